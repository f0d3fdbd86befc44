package io.fibry;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.engine.jvm.EngineClasses;
import io.fibry.engine.jvm.EngineThreads;
import io.fibry.engine.scope.CheckedActor;
import io.fibry.engine.scope.Scope;
import io.fibry.support.Soak;
import java.util.concurrent.TimeUnit;
import org.jetbrains.kotlinx.lincheck.strategy.LincheckFailure;
import org.jetbrains.kotlinx.lincheck.strategy.Strategy;
import org.jetbrains.kotlinx.lincheck.strategy.StrategyKt;
import org.jetbrains.lincheck.Lincheck;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.NoExceptionVerifier;
import org.jetbrains.lincheck.datastructures.ManagedCTestConfiguration;
import org.jetbrains.lincheck.datastructures.ManagedStrategyGuarantee;
import org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt;
import org.jetbrains.lincheck.datastructures.ModelCheckingCTestConfiguration;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.verifier.EpsilonVerifier;
import org.jetbrains.lincheck.jvm.agent.InstrumentationMode;
import org.jetbrains.lincheck.jvm.agent.JavaAgentAttachType;
import org.jetbrains.lincheck.jvm.agent.LincheckInstrumentation;

/**
 * Runs code under many schedules. Model checking runs one thread at a time, tries the same
 * schedules each time a test runs, and fails if no thread can continue. It supports only platform
 * threads, and a memory in which every write is visible at once; jcstress covers the other cases.
 */
public final class Schedules {
  private static final int MAX_RECURSION = 64; // the guarded queue recurses 24 levels deep on purpose
  private static final int MAX_LOOPS = 200; // the wait for a link loops up to 96 times before it parks
  // Limit of an invocation in ms. It may be long, because model checking detects a hang when a
  // bound is exceeded, or when all threads wait
  private static final long INVOCATION_LIMIT = TimeUnit.DAYS.toMillis(1);

  // Scope is ignored, because its counters are classes of the JDK
  private static final ManagedStrategyGuarantee IGNORED_SCOPE =
      ManagedStrategyGuaranteeKt.forClasses(Scope.class.getName()).allMethods().ignore();
  private static final ManagedStrategyGuarantee IGNORED_CHECKED_ACTOR =
      ManagedStrategyGuaranteeKt.forClasses(CheckedActor.class.getName()).methods("<init>", "enter", "nextMessage",
          "recordSend", "check", "checkOne", "checkRequest", "checkRequestsFailedBecause", "failure").ignore();
  // The waiting thread keeps its turn until the actor is ended by a thread that Lincheck does not
  // know
  private static final ManagedStrategyGuarantee IGNORED_WAIT =
      ManagedStrategyGuaranteeKt.forClasses(CheckedActor.class.getName()).methods("awaitExit").ignore();
  // The JDK may start a carrier for a fiber. Lincheck would take the carrier for a thread of the
  // test, and wait for it
  private static final ManagedStrategyGuarantee IGNORED_FIBER_START =
      ManagedStrategyGuaranteeKt.forClasses(EngineThreads.class.getName()).methods("startFiber").ignore();

  private static Runnable sharedCode; // static for the reason that start(..) gives

  private Schedules() {}

  /** Asserts that a check finds a failure of this type, such as a planted fault. */
  public static void assertFinds(Class<? extends LincheckFailure> failureType, Runnable check) {
    var error = assertThrows(AssertionError.class, check::run);

    assertInstanceOf(failureType, error instanceof LincheckAssertionError reported ? reported.getFailure$lincheck()
        : assertInstanceOf(UnreportedFailure.class, error).failure);
  }

  /** A failure that was found, although Lincheck cannot print it. */
  private static final class UnreportedFailure extends AssertionError {
    private static final long serialVersionUID = 1;

    final transient LincheckFailure failure;

    UnreportedFailure(LincheckFailure failure, IllegalStateException reportFailure) {
      super(failure.getClass().getName() + "; Lincheck has no report of it", reportFailure);
      this.failure = failure;
    }
  }

  /**
   * Makes the error of a failure. Lincheck prints the failure for it, and sometimes cannot, because
   * its trace lacks the call of the code ("GPMC trace is expected").
   */
  private static AssertionError errorOf(LincheckFailure failure) {
    try {
      return new LincheckAssertionError(failure);
    } catch (IllegalStateException reportFailure) {
      return new UnreportedFailure(failure, reportFailure);
    }
  }

  /**
   * Returns the number of schedules to try: a sixth of the given number in a build, and 140 times
   * the given number in a soak.
   */
  private static int scaledCount(int schedules) {
    return Soak.ON ? 140 * schedules : (schedules + 5) / 6;
  }

  /**
   * Starts threads of the library before the check, because a schedule would wait for the end of
   * threads that it starts. Initializes the classes of mailboxes, too, because that recurses more
   * often than the check permits.
   */
  private static void prepareLibrary() {
    EngineClasses.initializeMailboxes();
    var actor = ActorSystem.anonymous().newActor(message -> {});
    var exit = actor.onExit().thenRun(() -> {});
    actor.close();
    exit.join();
  }

  /**
   * Runs scenarios of a class's operations. The class checks the final state; the results of the
   * operations are ignored.
   */
  public static void modelCheck(Class<?> operations, int threads, int operationsPerThread, int scenarios,
      int schedules) {
    prepareLibrary();
    instrument();
    new ModelCheckingOptions().recursionBound(MAX_RECURSION).loopBound(MAX_LOOPS).iterations(scenarios)
        .invocationsPerIteration(scaledCount(schedules)).threads(threads).actorsPerThread(operationsPerThread)
        .actorsBefore(0).actorsAfter(0).invocationTimeout$lincheck(INVOCATION_LIMIT)
        .verifier(EpsilonVerifier.class).analyzeStdLib$lincheck(false)
        .addGuarantee(IGNORED_SCOPE).addGuarantee(IGNORED_FIBER_START).addGuarantee(IGNORED_CHECKED_ACTOR)
        .check(operations);
  }

  /** Runs the operations on real threads, at full speed. */
  public static void stress(Class<?> operations, int scenarios, int runs) {
    removeInstrumentation();
    new StressOptions().iterations(scenarios).invocationsPerIteration(scaledCount(runs)).threads(3).actorsPerThread(2)
        .actorsBefore(0).actorsAfter(0).invocationTimeout$lincheck(INVOCATION_LIMIT).verifier(EpsilonVerifier.class)
        .check(operations);
  }

  /**
   * Runs code that starts threads. This replaces Lincheck's public method, whose recursion bound is
   * too low for the guarded queue, and which reports a slow invocation as a hang.
   */
  public static void modelCheck(int schedules, Runnable code) {
    prepareLibrary();
    instrument();
    var configuration = new ModelCheckingOptions().recursionBound(MAX_RECURSION).loopBound(MAX_LOOPS)
        .invocationTimeout$lincheck(INVOCATION_LIMIT).analyzeStdLib$lincheck(false).addGuarantee(IGNORED_FIBER_START)
        .addGuarantee(IGNORED_WAIT).createTestConfigurations(code.getClass());
    trackEvents("enableThreadLocalEventTracking");
    try {
      LincheckInstrumentation.INSTANCE.ensureObjectIsTransformed(code);
      try (var strategy = strategy(configuration, code)) {
        var failure = StrategyKt.runIteration(strategy, scaledCount(schedules), new NoExceptionVerifier());
        if (failure != null) throw errorOf(failure);
      }
    } finally {
      trackEvents("disableThreadLocalEventTracking");
    }
  }

  /**
   * Instruments classes for model checking, once for all checks. Lincheck itself would instrument
   * them again for each check, which takes seconds. It does not do so if the JVM was started with
   * Lincheck's agent. This method makes Lincheck assume such a JVM.
   */
  private static void instrument() {
    var agent = LincheckInstrumentation.INSTANCE;
    if (agent.getJavaAgentAttachType() == JavaAgentAttachType.STATIC) return;
    if (agent.getJavaAgentAttachType() == null) agent.attachJavaAgentDynamically(null);
    agent.install(InstrumentationMode.MODEL_CHECKING);
    setAttachment(JavaAgentAttachType.STATIC);
  }

  /**
   * Removes the instrumentation for model checking. Runs on real threads need other
   * instrumentation, which Lincheck itself adds and removes.
   */
  private static void removeInstrumentation() {
    var agent = LincheckInstrumentation.INSTANCE;
    if (agent.getJavaAgentAttachType() != JavaAgentAttachType.STATIC) return;
    setAttachment(JavaAgentAttachType.DYNAMIC);
    agent.uninstall();
  }

  private static void setAttachment(JavaAgentAttachType type) {
    try {
      var field = LincheckInstrumentation.class.getDeclaredField("javaAgentAttachType");
      field.setAccessible(true);
      field.set(null, type);
    } catch (ReflectiveOperationException incompatible) {
      throw new AssertionError("Lincheck no longer has the field javaAgentAttachType", incompatible);
    }
  }

  private static Strategy strategy(ModelCheckingCTestConfiguration configuration, Runnable code) {
    try {
      var create =
          Lincheck.class.getDeclaredMethod("createStrategy", ManagedCTestConfiguration.class, Runnable.class);
      create.setAccessible(true);
      return (Strategy) create.invoke(Lincheck.INSTANCE, configuration, code);
    } catch (ReflectiveOperationException incompatible) {
      throw new AssertionError("Lincheck no longer has the method createStrategy", incompatible);
    }
  }

  /**
   * Calls a method of Lincheck's class in the boot class loader, which the compiler does not find.
   */
  private static void trackEvents(String method) {
    try {
      Class.forName("sun.nio.ch.lincheck.Injections", true, null).getMethod(method).invoke(null);
    } catch (ReflectiveOperationException incompatible) {
      throw new AssertionError("Lincheck no longer has the method " + method, incompatible);
    }
  }

  /**
   * Starts a thread. Lincheck switches threads only at objects that it knows to be shared. Objects
   * that a lambda captures become shared only when the lambda is in a static field.
   */
  public static Thread start(Runnable code) {
    sharedCode = code;
    var thread = new Thread(code);
    thread.start();
    return thread;
  }

  public static void join(Thread... threads) {
    try {
      for (var thread : threads) thread.join();
    } catch (InterruptedException unexpected) {
      throw new AssertionError(unexpected);
    }
  }
}
