package io.fibry;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.mailbox.Mailbox;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * An idle system does nothing at all. Runs as a program of its own, so that other tests do not
 * disturb it.
 */
class IdleJvmTest {

  /** A thousand actors of every strategy that have worked, with timers far away. */
  static final class Idle {
    public static void main(String[] args) throws InterruptedException {
      for (int i = 0; i < 1_000; i++) {
        var strategy = List
            .of(Strategy.FIBER, Strategy.residentFiber(), i < 100 ? Strategy.THREAD : Strategy.FIBER, Strategy.CALLER)
            .get(i % 4);
        var actor = ActorSystem.named("idle" + i).strategy(strategy)
            .mailbox(i % 2 == 0 ? Mailbox.unbounded() : Mailbox.unbounded().selective())
            .newActorWithReturn((Object message) -> message);
        actor.ask(i, Duration.ofSeconds(20));
        actor.sendMessageLater("far away", Duration.ofHours(1));
      }
      // lets the rest of the work end, and the sweep of limits
      new CountDownLatch(1).await(300, TimeUnit.MILLISECONDS);
      long before = used();

      new CountDownLatch(1).await(300, TimeUnit.MILLISECONDS);

      System.out.println("used: " + (used() - before));
    }

    /**
     * Milliseconds of processor time of all Java threads but this one: carriers, timer, residents.
     */
    private static long used() {
      var threads = ManagementFactory.getThreadMXBean();
      long sum = 0;
      for (long id : threads.getAllThreadIds())
        if (id != Thread.currentThread().threadId()) sum += Math.max(0, threads.getThreadCpuTime(id));
      return TimeUnit.NANOSECONDS.toMillis(sum);
    }
  }

  @Test
  void anIdleSystemUsesNoProcessorTime() throws Exception {
    try (var child = JvmChild.start(List.of(), Idle.class)) {
      String printed = child.ended(0);

      assertTrue(List.of("used: 0", "used: 1").contains(printed), printed);
    }
  }
}
