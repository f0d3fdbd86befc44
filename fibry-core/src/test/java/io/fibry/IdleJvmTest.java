package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.mailbox.Mailbox;
import io.fibry.support.Child;
import io.fibry.support.Patience;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/**
 * An idle system does nothing at all. Runs as a program of its own, so that other tests do not
 * disturb it.
 */
class IdleJvmTest {

  /** A thousand actors of every strategy that have worked, with timers far away. */
  static final class Idle {
    private static final int WINDOWS = 200; // at most, until the rest of the work has ended
    private static final int QUIET = 3; // windows in a row
    private static final int MOST = 1; // ms in a quiet window

    public static void main(String[] args) {
      for (int i = 0; i < 1_000; i++) {
        var strategy = List
            .of(Strategy.FIBER, Strategy.RESIDENT_FIBER, i < 100 ? Strategy.THREAD : Strategy.FIBER, Strategy.CALLER)
            .get(i % 4);
        var actor = ActorSystem.named("idle" + i).strategy(strategy)
            .mailbox(i % 2 == 0 ? Mailbox.unbounded() : Mailbox.unbounded().selective())
            .newActorWithReturn((Object message) -> message);
        actor.ask(i, Patience.LONG);
        actor.sendMessageLater("far away", Duration.ofHours(1));
      }
      var used = new ArrayList<Long>();
      while (used.size() < WINDOWS && !isQuiet(used)) used.add(window());
      System.out.println(isQuiet(used) ? "quiet" : "ms of processor time in each window: " + used);
    }

    private static boolean isQuiet(List<Long> used) {
      return used.size() >= QUIET && used.subList(used.size() - QUIET, used.size()).stream().allMatch(ms -> ms <= MOST);
    }

    /** Milliseconds of processor time that all other threads have used in the next 300. */
    private static long window() {
      var before = used();
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(300));
      long sum = 0;
      for (var thread : used().entrySet())
        sum += thread.getValue() - before.getOrDefault(thread.getKey(), 0L);
      return TimeUnit.NANOSECONDS.toMillis(sum);
    }

    /** Processor time of all Java threads but this one: carriers, timer, residents. */
    private static Map<Long, Long> used() {
      var threads = ManagementFactory.getThreadMXBean();
      var used = new HashMap<Long, Long>();
      for (long id : threads.getAllThreadIds()) {
        long time = threads.getThreadCpuTime(id);
        if (id != Thread.currentThread().threadId() && time >= 0) used.put(id, time);
      }
      return used;
    }
  }

  @Test
  void anIdleSystemUsesNoProcessorTime() throws Exception {
    try (var child = Child.java(List.of(), Idle.class)) {
      assertEquals("quiet", child.ended(0));
    }
  }
}
