package io.fibry.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorSystem;
import io.fibry.Strategy;
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
 * Tests that an idle system uses no processor time. Runs in a JVM of its own, so that other tests
 * do not disturb it.
 */
class IdleJvmTest {

  /**
   * Creates a thousand actors of all strategies, lets each handle a message, and sets a timer of
   * one hour for each. The program then measures the processor time of its JVM.
   */
  static final class IdleProgram {
    private static final int MAX_WINDOWS = 200; // at most; the first windows may contain other work of the JVM
    private static final int QUIET_WINDOWS = 3; // consecutive windows that must be quiet
    private static final int MAX_MILLIS = 1; // of processor time in a quiet window

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
      var windowMillis = new ArrayList<Long>();
      while (windowMillis.size() < MAX_WINDOWS && !isQuiet(windowMillis)) windowMillis.add(measureWindow());
      System.out.println(isQuiet(windowMillis) ? "quiet" : "ms of processor time in each window: " + windowMillis);
    }

    private static boolean isQuiet(List<Long> windowMillis) {
      return windowMillis.size() >= QUIET_WINDOWS
          && windowMillis.subList(windowMillis.size() - QUIET_WINDOWS, windowMillis.size())
              .stream().allMatch(ms -> ms <= MAX_MILLIS);
    }

    /**
     * Returns the processor time, in milliseconds, that all other threads use in the next 300 ms.
     */
    private static long measureWindow() {
      var timesBefore = threadTimes();
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(300));
      long sum = 0;
      for (var thread : threadTimes().entrySet())
        sum += thread.getValue() - timesBefore.getOrDefault(thread.getKey(), 0L);
      return TimeUnit.NANOSECONDS.toMillis(sum);
    }

    /** Returns the processor time of each platform thread except this one. */
    private static Map<Long, Long> threadTimes() {
      var threads = ManagementFactory.getThreadMXBean();
      var times = new HashMap<Long, Long>();
      for (long id : threads.getAllThreadIds()) {
        long time = threads.getThreadCpuTime(id);
        if (id != Thread.currentThread().threadId() && time >= 0) times.put(id, time);
      }
      return times;
    }
  }

  @Test
  void idleSystemUsesNoProcessorTime() throws Exception {
    try (var child = Child.java(List.of(), IdleProgram.class)) {
      assertEquals("quiet", child.awaitExit(0));
    }
  }
}
