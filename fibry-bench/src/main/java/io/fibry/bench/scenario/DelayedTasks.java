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
 * How long ten million tasks take that first wait for a second, at most 5,000 of which then run at
 * the same time; and 10,000 that wait for 100 ms.
 */
public final class DelayedTasks {
  private static final int AT_ONCE = 5_000;

  private DelayedTasks() {}

  /** {@code -Dsize} tasks, which wait for {@code -Dseconds}. */
  public static void main(String[] args) throws Exception {
    int tasks = Experiment.size(10_000_000);
    int fewer = Math.max(1, tasks / 1_000);
    long millis = (long) (Double.parseDouble(System.getProperty("seconds", "1")) * 1_000);
    new Experiment("delays",
        "tasks that begin after a delay, and how many (size); a thousandth of them after 100 ms instead of 1 s")
        .side("fibry, timers of a pool of 5,000 fibers, 1 s", "s", "18.5 s for 10,000,000, LOOM", tasks,
            () -> timers(tasks, Duration.ofMillis(millis), pool(AT_ONCE)))
        .side("fibry, timers of a fiber for each, 1 s", "s", "", tasks,
            () -> timers(tasks, Duration.ofMillis(millis), Pools.perMessage(ActorSystem.anonymous())))
        .side("fibry, timers of one actor, 1 s", "s", "", tasks,
            () -> timers(tasks, Duration.ofMillis(millis), ActorSystem.anonymous()))
        .side("by hand: scheduler and virtual threads, 1 s", "s", "18.5 s for 10,000,000, LOOM", tasks,
            () -> scheduled(tasks, millis, Executors.newVirtualThreadPerTaskExecutor()))
        .side("by hand: scheduler and 64 platform threads, 1 s", "s", "184.7 s for 10,000,000, IO", tasks,
            () -> scheduled(tasks, millis, Executors.newFixedThreadPool(64)))
        .side("fibry, timers of a pool of 5,000 fibers, 100 ms", "s", "0.183 s for 10,000, LOOM", fewer,
            () -> timers(fewer, Duration.ofMillis(100), pool(AT_ONCE)))
        .side("by hand: scheduler and 64 platform threads, 100 ms", "s", "0.222 s for 10,000, IO", fewer,
            () -> scheduled(fewer, 100, Executors.newFixedThreadPool(64)))
        .once();
  }

  private static ActorBuilder<Object> pool(int workers) {
    // a full mailbox drops messages of timers
    return Pools.fixed(ActorSystem.anonymous().mailbox(Mailbox.unbounded()), workers);
  }

  private static double timers(int tasks, Duration delay, ActorBuilder<Object> builder) throws Exception {
    var done = new CountDownLatch(tasks);
    try (Actor<CountDownLatch> actor = builder.newActor(CountDownLatch::countDown)) {
      long began = System.nanoTime();
      for (int i = 0; i < tasks; i++) actor.sendMessageLater(done, delay);
      done.await();
      return Experiment.seconds(began);
    }
  }

  private static double scheduled(int tasks, long millis, ExecutorService executor) throws Exception {
    var done = new CountDownLatch(tasks);
    var permits = new Semaphore(AT_ONCE);
    try (executor; var scheduler = Executors.newScheduledThreadPool(1)) {
      long began = System.nanoTime();
      for (int i = 0; i < tasks; i++)
        scheduler.schedule(() -> executor.execute(() -> countDown(permits, done)), millis, TimeUnit.MILLISECONDS);
      done.await();
      return Experiment.seconds(began);
    }
  }

  private static void countDown(Semaphore permits, CountDownLatch done) {
    permits.acquireUninterruptibly();
    done.countDown();
    permits.release();
  }
}
