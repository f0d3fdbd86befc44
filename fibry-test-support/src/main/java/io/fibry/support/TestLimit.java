package io.fibry.support;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.time.Duration;
import org.junit.jupiter.api.extension.DynamicTestInvocationContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

/**
 * The limit of every test: it may take {@code -Dfibry.test.minutes}, 5 by default, at the speed of
 * this machine ({@link Pace}). A test runs on a thread of its own, because an interrupt does not
 * end a busy loop. After the limit the thread is interrupted, and the test fails in any case.
 */
public final class TestLimit implements InvocationInterceptor {
  private static final Duration LIMIT = Duration.ofMinutes(Integer.getInteger("fibry.test.minutes", 5));
  private static final long UNMEASURED = Math.clamp(LIMIT.toMillis(), 100, 10_000); // ms
  private static final long LOOK = 250; // ms
  private static final long GRACE = 2_000; // ms

  /** What a test's thread does, and how that has ended. */
  private static final class Run<T> implements Runnable {
    private final Invocation<T> invocation;
    private T value;
    private Throwable failure;

    Run(Invocation<T> invocation) {
      this.invocation = invocation;
    }

    @Override
    public void run() {
      try {
        value = invocation.proceed();
      } catch (Throwable failed) {
        failure = failed;
      }
    }
  }

  private static <T> T limited(Invocation<T> invocation, String name) throws Throwable {
    var run = new Run<>(invocation);
    var current = Thread.currentThread();
    var thread = new Thread(run, "test " + name);
    thread.setDaemon(true);
    thread.setContextClassLoader(current.getContextClassLoader());
    thread.start();
    thread.join(UNMEASURED);
    if (thread.isAlive()) {
      for (long begun = Pace.nanoTime(); thread.isAlive(); thread.join(LOOK))
        if (Pace.nanoTime() - begun > LIMIT.toNanos()) throw tooLong(thread, name, run);
    }
    if (run.failure != null) throw run.failure;
    return run.value;
  }

  private static Throwable tooLong(Thread thread, String name, Run<?> run) throws InterruptedException {
    var failure = new AssertionError(name + " did not end in " + LIMIT.toMinutes() + " minutes; " + Evidence.seen());
    failure.setStackTrace(thread.getStackTrace());
    thread.interrupt();
    thread.join(GRACE);
    if (!thread.isAlive() && run.failure != null) failure.addSuppressed(run.failure);
    return failure;
  }

  private static String name(ReflectiveInvocationContext<Method> invocation, ExtensionContext context) {
    return invocation.getTargetClass().getSimpleName() + "." + invocation.getExecutable().getName() + " "
        + context.getDisplayName();
  }

  @Override
  public <T> T interceptTestClassConstructor(Invocation<T> invocation,
      ReflectiveInvocationContext<Constructor<T>> constructor, ExtensionContext context) throws Throwable {
    return limited(invocation, "new " + constructor.getTargetClass().getSimpleName());
  }

  @Override
  public void interceptTestMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> method,
      ExtensionContext context) throws Throwable {
    limited(invocation, name(method, context));
  }

  @Override
  public void interceptTestTemplateMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> method,
      ExtensionContext context) throws Throwable {
    limited(invocation, name(method, context));
  }

  @Override
  public <T> T interceptTestFactoryMethod(Invocation<T> invocation, ReflectiveInvocationContext<Method> method,
      ExtensionContext context) throws Throwable {
    return limited(invocation, name(method, context));
  }

  @Override
  public void interceptDynamicTest(Invocation<Void> invocation, DynamicTestInvocationContext test,
      ExtensionContext context) throws Throwable {
    limited(invocation, context.getDisplayName());
  }

  @Override
  public void interceptBeforeAllMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> method,
      ExtensionContext context) throws Throwable {
    limited(invocation, name(method, context));
  }

  @Override
  public void interceptBeforeEachMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> method,
      ExtensionContext context) throws Throwable {
    limited(invocation, name(method, context));
  }

  @Override
  public void interceptAfterEachMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> method,
      ExtensionContext context) throws Throwable {
    limited(invocation, name(method, context));
  }

  @Override
  public void interceptAfterAllMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> method,
      ExtensionContext context) throws Throwable {
    limited(invocation, name(method, context));
  }
}
