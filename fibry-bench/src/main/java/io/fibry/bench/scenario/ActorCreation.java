package io.fibry.bench.scenario;

import io.fibry.ActorSystem;
import io.fibry.Sink;
import io.fibry.Strategy;
import io.fibry.stereotype.Stereotypes;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** Measures the time to create and keep actors, and to run one task on each. */
public final class ActorCreation {
  private ActorCreation() {}

  /**
   * Creates {@code -Dsize} actors on fibers, a fifth as many with a virtual thread each, and 0.3 %
   * as many with a platform thread each.
   */
  public static void main(String[] args) throws Exception {
    int onFibers = Experiment.size(1_000_000);
    int onVirtualThreads = onFibers / 5;
    int onPlatformThreads = Math.max(1, onFibers * 3 / 1_000);
    Supplier<Sink<?>> residentMaker = () -> ActorSystem.anonymous().strategy(Strategy.RESIDENT_FIBER).newSink();
    for (boolean hasTask : new boolean[] {false, true}) {
      String counts =
          String.format("%,d actors on fibers, %,d with a virtual thread each, %,d with a platform thread each",
              onFibers, onVirtualThreads, onPlatformThreads);
      new Experiment(hasTask ? "creation-and-work" : "creation",
          (hasTask ? "create, keep, and run one task on each: " : "create and keep: ") + counts)
          .side("fibry, fibers", "us each", "200,000 in 210 ms: 1.05",
              () -> sinkMicros(onFibers, () -> Stereotypes.fibers().sink(null), hasTask))
          .side("fibry, resident fibers", "us each", "", () -> sinkMicros(onVirtualThreads, residentMaker, hasTask))
          .side("fibry, platform threads", "us each", "3,000 in 210 ms: 70",
              () -> sinkMicros(onPlatformThreads, () -> Stereotypes.threads().sink(null), hasTask))
          .side("by hand: virtual threads, parked", "us each", "",
              () -> parkedThreads(onVirtualThreads, Thread.ofVirtual(), hasTask))
          .side("by hand: platform threads, parked", "us each", "",
              () -> parkedThreads(onPlatformThreads, Thread.ofPlatform().daemon(), hasTask))
          .runInTurns();
    }
  }

  private static double sinkMicros(int count, Supplier<Sink<?>> maker, boolean hasTask) throws Exception {
    var sinks = new Sink<?>[count];
    var remaining = new CountDownLatch(count);
    long began = System.nanoTime();
    for (int i = 0; i < count; i++) sinks[i] = maker.get();
    double creationSeconds = Experiment.secondsSince(began);
    // waits until each sink has run a task, which proves that it is an actor
    for (var sink : sinks) sink.execAsync(nothing -> remaining.countDown());
    remaining.await();
    double totalSeconds = Experiment.secondsSince(began);
    for (var sink : sinks) sink.sendPoisonPill();
    for (var sink : sinks) sink.waitForExit();
    return (hasTask ? totalSeconds : creationSeconds) * 1e6 / count;
  }

  /**
   * Starts threads that park, and returns the microseconds for each. If {@code hasTask}, the time
   * to wake them and to await their end is included.
   */
  static double parkedThreads(int count, Thread.Builder threads, boolean hasTask) throws Exception {
    var parkedThreads = new Thread[count];
    var remaining = new CountDownLatch(count);
    long began = System.nanoTime();
    for (int i = 0; i < count; i++) {
      parkedThreads[i] = threads.start(() -> {
        LockSupport.park();
        remaining.countDown();
      });
    }
    double creationSeconds = Experiment.secondsSince(began);
    for (var thread : parkedThreads) LockSupport.unpark(thread);
    remaining.await();
    return (hasTask ? Experiment.secondsSince(began) : creationSeconds) * 1e6 / count;
  }
}
