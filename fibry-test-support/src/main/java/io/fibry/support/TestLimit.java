package io.fibry.support;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.time.Duration;
import org.junit.jupiter.api.extension.DynamicTestInvocationContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

/**
 * Limits each test method, constructor and lifecycle method of a test class to 5 minutes, or to
 * {@code -Dfibry.test.minutes}. The limit is measured by {@link Pace}, a clock that runs slower on
 * a slow machine; the first ten seconds do not count. Each method runs on its own thread, because
 * an interrupt does not end a busy loop. After the limit the thread is interrupted, and the test
 * fails even if its code then ends normally.
 */
public final class TestLimit implements InvocationInterceptor {
  private static final Duration LIMIT = Duration.ofMinutes(Integer.getInteger("fibry.test.minutes", 5));
  private static final long FIRST_WAIT = Math.clamp(LIMIT.toMillis(), 100, 10_000); // ms, before Pace is used
  private static final long CHECK_INTERVAL = 250; // ms
  private static final long GRACE = 2_000; // ms, from the interrupt to the end of the test

  /** Runs a test, and stores its result or failure for the thread that waits for it. */
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
      } catch (Throwable exception) {
        failure = exception;
      }
    }
  }

  private static <T> T callWithLimit(Invocation<T> invocation, String name) throws Throwable {
    var run = new Run<>(invocation);
    var current = Thread.currentThread();
    var thread = new Thread(run, "test " + name);
    thread.setDaemon(true);
    thread.setContextClassLoader(current.getContextClassLoader());
    thread.start();
    thread.join(FIRST_WAIT);
    if (thread.isAlive()) {
      for (long start = Pace.nanoTime(); thread.isAlive(); thread.join(CHECK_INTERVAL))
        if (Pace.nanoTime() - start > LIMIT.toNanos()) throw interruptOverdue(thread, name, run);
    }
    if (run.failure != null) throw run.failure;
    return run.value;
  }

  private static Throwable interruptOverdue(Thread thread, String name, Run<?> run) throws InterruptedException {
    var failure =
        new AssertionError(name + " did not end in " + LIMIT.toMinutes() + " minutes; " + Evidence.describe());
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
    return callWithLimit(invocation, "new " + constructor.getTargetClass().getSimpleName());
  }

  @Override
  public void interceptTestMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> method,
      ExtensionContext context) throws Throwable {
    callWithLimit(invocation, name(method, context));
  }

  @Override
  public void interceptTestTemplateMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> method,
      ExtensionContext context) throws Throwable {
    callWithLimit(invocation, name(method, context));
  }

  @Override
  public <T> T interceptTestFactoryMethod(Invocation<T> invocation, ReflectiveInvocationContext<Method> method,
      ExtensionContext context) throws Throwable {
    return callWithLimit(invocation, name(method, context));
  }

  @Override
  public void interceptDynamicTest(Invocation<Void> invocation, DynamicTestInvocationContext test,
      ExtensionContext context) throws Throwable {
    callWithLimit(invocation, context.getDisplayName());
  }

  @Override
  public void interceptBeforeAllMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> method,
      ExtensionContext context) throws Throwable {
    callWithLimit(invocation, name(method, context));
  }

  @Override
  public void interceptBeforeEachMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> method,
      ExtensionContext context) throws Throwable {
    callWithLimit(invocation, name(method, context));
  }

  @Override
  public void interceptAfterEachMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> method,
      ExtensionContext context) throws Throwable {
    callWithLimit(invocation, name(method, context));
  }

  @Override
  public void interceptAfterAllMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> method,
      ExtensionContext context) throws Throwable {
    callWithLimit(invocation, name(method, context));
  }
}
