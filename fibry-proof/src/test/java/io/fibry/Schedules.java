package io.fibry;

import io.fibry.engine.jvm.EngineThreads;
import io.fibry.engine.scope.Scope;
import io.fibry.engine.scope.Witness;
import io.fibry.support.Soak;
import java.util.concurrent.TimeUnit;
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
 * Runs code under many schedules. Model checking runs one thread at a time, with the same choices
 * in each run, and fails if no thread can continue. It knows only platform threads, and memory in
 * which every write is visible at once: jcstress covers the rest.
 */
public final class Schedules {
  private static final int RECURSION = 64; // the guarded queue goes 24 deep on purpose
  private static final int LOOPS = 200; // the wait for a link takes up to 96 turns before it parks
  // ms of an invocation: model checking finds hangs by its bounds, and by threads that all wait
  private static final long NEVER = TimeUnit.DAYS.toMillis(1);

  // Scope's counters are the JDK's
  private static final ManagedStrategyGuarantee NO_RACE =
      ManagedStrategyGuaranteeKt.forClasses(Scope.class.getName()).allMethods().ignore();
  private static final ManagedStrategyGuarantee VERDICT =
      ManagedStrategyGuaranteeKt.forClasses(Witness.class.getName()).methods("<init>", "enter", "number", "note",
          "check", "checkOne", "checkRequest", "requestsFailedBecause", "failure").ignore();
  // the JDK may start a carrier for a fiber; Lincheck would take it for a thread of the test, and
  // wait for it
  private static final ManagedStrategyGuarantee NO_CARRIER =
      ManagedStrategyGuaranteeKt.forClasses(EngineThreads.class.getName()).methods("startFiber").ignore();

  private static Runnable shared; // see start

  private Schedules() {}

  /** A build tries a sixth of the schedules, and the soak many times as many. */
  private static int times(int asked) {
    return Soak.ON ? 140 * asked : (asked + 5) / 6;
  }

  /** Those of the library: a schedule would wait for the end of threads that it starts. */
  private static void startThreads() {
    var actor = ActorSystem.anonymous().newActor(message -> {});
    var told = actor.onExit().thenRun(() -> {});
    actor.close();
    told.join();
  }

  /**
   * Runs scenarios of the operations of a class, which validates the final state; results are
   * ignored.
   */
  public static void modelCheck(Class<?> operations, int threads, int each, int scenarios, int schedules) {
    startThreads();
    instrument();
    new ModelCheckingOptions().recursionBound(RECURSION).loopBound(LOOPS).iterations(scenarios)
        .invocationsPerIteration(times(schedules)).threads(threads).actorsPerThread(each).actorsBefore(0)
        .actorsAfter(0).invocationTimeout$lincheck(NEVER).verifier(EpsilonVerifier.class).analyzeStdLib$lincheck(false)
        .addGuarantee(NO_RACE).addGuarantee(NO_CARRIER).addGuarantee(VERDICT).check(operations);
  }

  /** Runs the operations on real threads, at full speed. */
  public static void stress(Class<?> operations, int scenarios, int runs) {
    removeInstrumentation();
    new StressOptions().iterations(scenarios).invocationsPerIteration(times(runs)).threads(3).actorsPerThread(2)
        .actorsBefore(0).actorsAfter(0).invocationTimeout$lincheck(NEVER).verifier(EpsilonVerifier.class)
        .check(operations);
  }

  /**
   * Runs code that starts threads. Lincheck's public method has a recursion bound that is too low
   * for the guarded queue, and mistakes a slow invocation for a hung one; otherwise this does the
   * same.
   */
  public static void modelCheck(int schedules, Runnable code) {
    startThreads();
    instrument();
    var configuration = new ModelCheckingOptions().recursionBound(RECURSION).loopBound(LOOPS)
        .invocationTimeout$lincheck(NEVER).analyzeStdLib$lincheck(false).addGuarantee(NO_CARRIER)
        .createTestConfigurations(code.getClass());
    trackEvents("enableThreadLocalEventTracking");
    try {
      LincheckInstrumentation.INSTANCE.ensureObjectIsTransformed(code);
      try (var strategy = strategy(configuration, code)) {
        var failure = StrategyKt.runIteration(strategy, times(schedules), new NoExceptionVerifier());
        if (failure != null) throw new LincheckAssertionError(failure);
      }
    } finally {
      trackEvents("disableThreadLocalEventTracking");
    }
  }

  /**
   * Instruments classes for model checking, once for all checks. Lincheck itself would instrument
   * them again for each check, which takes seconds. It leaves the classes alone if the JVM was
   * started with its agent, so it is told that this was so.
   */
  private static void instrument() {
    var agent = LincheckInstrumentation.INSTANCE;
    if (agent.getJavaAgentAttachType() == JavaAgentAttachType.STATIC) return;
    if (agent.getJavaAgentAttachType() == null) agent.attachJavaAgentDynamically(null);
    agent.install(InstrumentationMode.MODEL_CHECKING);
    setAttachment(JavaAgentAttachType.STATIC);
  }

  /** Real threads need other instructions, which Lincheck adds and removes. */
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
    } catch (ReflectiveOperationException changed) {
      throw new AssertionError("Lincheck no longer has the field javaAgentAttachType", changed);
    }
  }

  private static Strategy strategy(ModelCheckingCTestConfiguration configuration, Runnable code) {
    try {
      var create =
          Lincheck.class.getDeclaredMethod("createStrategy", ManagedCTestConfiguration.class, Runnable.class);
      create.setAccessible(true);
      return (Strategy) create.invoke(Lincheck.INSTANCE, configuration, code);
    } catch (ReflectiveOperationException changed) {
      throw new AssertionError("Lincheck makes its strategies otherwise now", changed);
    }
  }

  /** Calls a method of the boot class loader's, where the compiler does not find it. */
  private static void trackEvents(String method) {
    try {
      Class.forName("sun.nio.ch.lincheck.Injections", true, null).getMethod(method).invoke(null);
    } catch (ReflectiveOperationException changed) {
      throw new AssertionError("Lincheck has no method " + method + " now", changed);
    }
  }

  /**
   * Lincheck switches threads only at objects that it knows to be shared. What a lambda captures is
   * not, until the lambda is in a static field.
   */
  public static Thread start(Runnable code) {
    shared = code;
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
