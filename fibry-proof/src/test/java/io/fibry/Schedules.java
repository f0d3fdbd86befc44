package io.fibry;

import io.fibry.engine.scope.Scope;
import org.jetbrains.lincheck.Lincheck;
import org.jetbrains.lincheck.LincheckSettings;
import org.jetbrains.lincheck.datastructures.ManagedStrategyGuarantee;
import org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.verifier.EpsilonVerifier;

/**
 * Ways to run a piece of code under many schedules of its threads. Model checking runs one thread
 * at a time and chooses where to switch, the same choices at each run of the tests; a schedule in
 * which nobody can go on any more is a failure. It knows platform threads only, and a memory in
 * which every write is seen at once: what else can go wrong is for jcstress to find.
 */
public final class Schedules {
  // percent; the choices are the same at each run, so most of them need not be made at each build
  private static final int SHARE = Boolean.getBoolean("fibry.soak") ? 2_000 : Integer.getInteger("share", 30);
  private static final int RECURSION = 64; // the guarded queue goes 24 deep on purpose
  private static final int LOOPS = 200; // the wait for a link takes up to 96 turns before it parks

  // counters of the JDK
  private static final ManagedStrategyGuarantee NO_RACE =
      ManagedStrategyGuaranteeKt.forClasses(Scope.class.getName()).allMethods().ignore();
  private static final ManagedStrategyGuarantee VERDICT =
      ManagedStrategyGuaranteeKt.forClasses(Witness.class.getName()).methods("<init>", "enter", "number", "note",
          "check", "checkOne", "checkRequest", "requestsFailedBecause", "failure").ignore();

  private Schedules() {}

  /**
   * Scenarios of three threads, made of the operations of a class, which has a method to check that
   * all is well once they are through. What they answer does not matter.
   */
  public static void modelCheck(Class<?> operations, int threads, int each, int scenarios, int schedules) {
    new ModelCheckingOptions().recursionBound(RECURSION).loopBound(LOOPS).iterations(scenarios)
        .invocationsPerIteration(share(schedules)).threads(threads).actorsPerThread(each).actorsBefore(0).actorsAfter(0)
        .verifier(EpsilonVerifier.class).analyzeStdLib$lincheck(false).addGuarantee(NO_RACE).addGuarantee(VERDICT)
        .check(operations);
  }

  /** The same on real threads, which no one holds up. */
  public static void stress(Class<?> operations, int scenarios, int runs) {
    new StressOptions().iterations(scenarios).invocationsPerIteration(share(runs)).threads(3).actorsPerThread(2)
        .actorsBefore(0).actorsAfter(0).verifier(EpsilonVerifier.class).check(operations);
  }

  /**
   * One piece of code that starts threads of its own. The public way to it fixes the recursion
   * bound, too low for the guarded queue.
   */
  public static void modelCheck(int schedules, Runnable code) {
    Lincheck.runConcurrentTestInternal$lincheck(share(schedules), new LincheckSettings(false, 10, LOOPS, RECURSION),
        code);
  }

  private static int share(int number) {
    return number * SHARE / 100;
  }

  public static Thread start(Runnable code) {
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
