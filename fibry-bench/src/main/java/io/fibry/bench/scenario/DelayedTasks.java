package io.fibry.bench.scenario;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorSystem;
import io.fibry.mailbox.Mailbox;
import io.fibry.pool.Pools;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Measures how long ten million tasks take that begin after a delay of a second, and 10,000 tasks
 * that begin after 100 ms. On most sides at most 5,000 tasks run at the same time.
 */
public final class DelayedTasks {
  private static final int MAX_RUNNING = 5_000;

  private DelayedTasks() {}

  /** Runs {@code -Dsize} tasks after {@code -Dseconds}, and a thousandth of them after 100 ms. */
  public static void main(String[] args) throws Exception {
    int tasks = Experiment.size(10_000_000);
    int fewerTasks = Math.max(1, tasks / 1_000);
    long delayMillis = (long) (Double.parseDouble(System.getProperty("seconds", "1")) * 1_000);
    new Experiment("delays",
        "tasks that begin after a delay: ten million after 1 s, and ten thousand after 100 ms")
        .side("fibry, timers of a pool of 5,000 fibers, 1 s", "s", "18.5 s for 10,000,000, LOOM", tasks,
            () -> timerSeconds(tasks, Duration.ofMillis(delayMillis), pool(MAX_RUNNING)))
        .side("fibry, a timer and a new fiber for each task, 1 s", "s", "", tasks,
            () -> timerSeconds(tasks, Duration.ofMillis(delayMillis), Pools.perMessage(ActorSystem.anonymous())))
        .side("fibry, timers of one actor, 1 s", "s", "", tasks,
            () -> timerSeconds(tasks, Duration.ofMillis(delayMillis), ActorSystem.anonymous()))
        .side("by hand: scheduler and virtual threads, 1 s", "s", "18.5 s for 10,000,000, LOOM", tasks,
            () -> schedulerSeconds(tasks, delayMillis, Executors.newVirtualThreadPerTaskExecutor()))
        .side("by hand: scheduler and 64 platform threads, 1 s", "s", "184.7 s for 10,000,000, IO", tasks,
            () -> schedulerSeconds(tasks, delayMillis, Executors.newFixedThreadPool(64)))
        .side("fibry, timers of a pool of 5,000 fibers, 100 ms", "s", "0.183 s for 10,000, LOOM", fewerTasks,
            () -> timerSeconds(fewerTasks, Duration.ofMillis(100), pool(MAX_RUNNING)))
        .side("by hand: scheduler and 64 platform threads, 100 ms", "s", "0.222 s for 10,000, IO", fewerTasks,
            () -> schedulerSeconds(fewerTasks, 100, Executors.newFixedThreadPool(64)))
        .runOnce();
  }

  private static ActorBuilder<Object> pool(int workers) {
    // unbounded, because a full mailbox drops messages of timers
    return Pools.fixed(ActorSystem.anonymous().mailbox(Mailbox.unbounded()), workers);
  }

  private static double timerSeconds(int tasks, Duration delay, ActorBuilder<Object> builder) throws Exception {
    var remaining = new CountDownLatch(tasks);
    try (Actor<CountDownLatch> actor = builder.newActor(CountDownLatch::countDown)) {
      long began = System.nanoTime();
      for (int i = 0; i < tasks; i++) actor.sendMessageLater(remaining, delay);
      remaining.await();
      return Experiment.secondsSince(began);
    }
  }

  private static double schedulerSeconds(int tasks, long delayMillis, ExecutorService executor) throws Exception {
    var remaining = new CountDownLatch(tasks);
    var permits = new Semaphore(MAX_RUNNING);
    try (executor; var scheduler = Executors.newScheduledThreadPool(1)) {
      long began = System.nanoTime();
      for (int i = 0; i < tasks; i++)
        scheduler.schedule(() -> executor.execute(() -> countDown(permits, remaining)), delayMillis,
            TimeUnit.MILLISECONDS);
      remaining.await();
      return Experiment.secondsSince(began);
    }
  }

  private static void countDown(Semaphore permits, CountDownLatch remaining) {
    permits.acquireUninterruptibly();
    remaining.countDown();
    permits.release();
  }
}
