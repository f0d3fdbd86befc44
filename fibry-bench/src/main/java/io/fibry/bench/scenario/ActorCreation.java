package io.fibry.bench.scenario;

import io.fibry.ActorSystem;
import io.fibry.Sink;
import io.fibry.Strategy;
import io.fibry.stereotype.Stereotypes;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** The time and memory for creating and keeping actors, and for running one task on each. */
public final class ActorCreation {
  private ActorCreation() {}

  /**
   * {@code -Dsize} fibers; a fifth as many with a virtual thread each, 0.3 % with a platform
   * thread.
   */
  public static void main(String[] args) throws Exception {
    int many = Experiment.size(1_000_000);
    int fewer = many / 5;
    int threads = Math.max(1, many * 3 / 1_000);
    Supplier<Sink<?>> resident = () -> ActorSystem.anonymous().strategy(Strategy.RESIDENT_FIBER).newSink();
    for (boolean working : new boolean[] {false, true}) {
      String each =
          String.format("%,d actors on fibers, %,d with a virtual thread each, %,d with a platform thread each", many,
              fewer, threads);
      new Experiment(working ? "creation-and-work" : "creation",
          (working ? "create, keep, and run one task on each: " : "create and keep: ") + each)
          .side("fibry, fibers", "us each", "200,000 in 210 ms: 1.05",
              () -> sinks(many, () -> Stereotypes.fibers().sink(null), working))
          .side("fibry, resident fibers", "us each", "", () -> sinks(fewer, resident, working))
          .side("fibry, platform threads", "us each", "3,000 in 210 ms: 70",
              () -> sinks(threads, () -> Stereotypes.threads().sink(null), working))
          .side("by hand: virtual threads, parked", "us each", "", () -> threads(fewer, Thread.ofVirtual(), working))
          .side("by hand: platform threads, parked", "us each", "",
              () -> threads(threads, Thread.ofPlatform().daemon(), working))
          .inTurns();
    }
  }

  private static double sinks(int times, Supplier<Sink<?>> maker, boolean working) throws Exception {
    var made = new Sink<?>[times];
    var all = new CountDownLatch(times);
    long began = System.nanoTime();
    for (int i = 0; i < times; i++) made[i] = maker.get();
    double created = Experiment.seconds(began);
    // fails if one of them is no actor of its own
    for (var sink : made) sink.execAsync(nothing -> all.countDown());
    all.await();
    double worked = Experiment.seconds(began);
    for (var sink : made) sink.sendPoisonPill();
    for (var sink : made) sink.waitForExit();
    return (working ? worked : created) * 1e6 / times;
  }

  /** Microseconds for each of these, which all park. */
  static double threads(int times, Thread.Builder threads, boolean working) throws Exception {
    var made = new Thread[times];
    var end = new CountDownLatch(times);
    long began = System.nanoTime();
    for (int i = 0; i < times; i++) {
      made[i] = threads.start(() -> {
        LockSupport.park();
        end.countDown();
      });
    }
    double created = Experiment.seconds(began);
    for (var thread : made) LockSupport.unpark(thread);
    end.await();
    return (working ? Experiment.seconds(began) : created) * 1e6 / times;
  }
}
