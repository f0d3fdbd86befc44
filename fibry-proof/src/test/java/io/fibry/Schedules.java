package io.fibry;

import io.fibry.engine.scope.Scope;
import io.fibry.engine.scope.Witness;
import org.jetbrains.lincheck.Lincheck;
import org.jetbrains.lincheck.LincheckSettings;
import org.jetbrains.lincheck.datastructures.ManagedStrategyGuarantee;
import org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.verifier.EpsilonVerifier;

/**
 * Runs code under many schedules. Model checking runs one thread at a time, with the same choices
 * in each run, and fails if no thread can go on. It knows only platform threads, and memory in
 * which every write is visible at once: jcstress covers the rest.
 */
public final class Schedules {
  private static final boolean SOAK = Boolean.getBoolean("fibry.soak");
  private static final int RECURSION = 64; // the guarded queue goes 24 deep on purpose
  private static final int LOOPS = 200; // the wait for a link takes up to 96 turns before it parks

  // Scope's counters are the JDK's
  private static final ManagedStrategyGuarantee NO_RACE =
      ManagedStrategyGuaranteeKt.forClasses(Scope.class.getName()).allMethods().ignore();
  private static final ManagedStrategyGuarantee VERDICT =
      ManagedStrategyGuaranteeKt.forClasses(Witness.class.getName()).methods("<init>", "enter", "number", "note",
          "check", "checkOne", "checkRequest", "requestsFailedBecause", "failure").ignore();

  private static Runnable shared; // see start

  private Schedules() {}

  /** An ordinary build takes a third of what is asked for. */
  private static int times(int asked) {
    return SOAK ? 140 * asked : (asked + 2) / 3;
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
    new ModelCheckingOptions().recursionBound(RECURSION).loopBound(LOOPS).iterations(scenarios)
        .invocationsPerIteration(times(schedules)).threads(threads).actorsPerThread(each).actorsBefore(0)
        .actorsAfter(0)
        .verifier(EpsilonVerifier.class).analyzeStdLib$lincheck(false).addGuarantee(NO_RACE).addGuarantee(VERDICT)
        .check(operations);
  }

  /** The same on real threads, at full speed. */
  public static void stress(Class<?> operations, int scenarios, int runs) {
    new StressOptions().iterations(scenarios).invocationsPerIteration(times(runs)).threads(3).actorsPerThread(2)
        .actorsBefore(0).actorsAfter(0).verifier(EpsilonVerifier.class).check(operations);
  }

  /**
   * Runs code that starts threads. Lincheck's public method has a recursion bound too low for the
   * guarded queue.
   */
  public static void modelCheck(int schedules, Runnable code) {
    startThreads();
    Lincheck.runConcurrentTestInternal$lincheck(times(schedules), new LincheckSettings(false, 10, LOOPS, RECURSION),
        code);
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
