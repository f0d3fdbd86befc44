package io.fibry.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.AskTimeoutException;
import io.fibry.Strategy;
import io.fibry.support.Child;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * Tests that limits expire and scopes close while a handler that computes forever occupies the only
 * carrier.
 */
class BlockedCarriersJvmTest {
  private static final Duration SHORT = Duration.ofMillis(100);

  /** Occupies the only carrier. Prints one line for each operation that must work nevertheless. */
  static final class BusyCarrierProgram {
    private static volatile int sum;

    public static void main(String[] args) throws InterruptedException {
      var scope = ActorSystem.openScope("busy", options -> options.withKillGrace(SHORT));
      var otherScope = ActorSystem.openScope("innocent", options -> options.withKillGrace(SHORT));
      var fiberActor = otherScope.anonymous().newActorWithReturn((String message) -> message);
      var threadActor = otherScope.anonymous().strategy(Strategy.THREAD).newActorWithReturn((String message) -> {
        new CountDownLatch(1).await();
        return message;
      });
      var started = new CountDownLatch(1);
      scope.anonymous().newActor((String message) -> {
        started.countDown();
        while (true) sum++;
      }).sendMessage("compute");
      started.await();

      System.out.println("ask of a fiber: " + timesOut(fiberActor));
      System.out.println("ask of a thread: " + timesOut(threadActor));
      System.out.println("texts: " + MessageTexts.describe(List.of(1)) + MessageTexts.describe(List.of(2)));
      System.out.println("tasks: " + startTasks(1_000));
      System.out.println("innocent scope: " + otherScope.closeWithin(SHORT).scope());
      System.out.println("busy scope: " + scope.closeWithin(SHORT).scope());
      System.exit(0);
    }

    private static boolean timesOut(ActorWithReturn<String, String> actor) {
      try {
        actor.ask("?", SHORT);
        return false;
      } catch (AskTimeoutException e) {
        return true;
      }
    }

    /**
     * Starts the tasks, of which the first three never end, and returns the number of started
     * tasks.
     */
    private static String startTasks(int number) {
      var startedTasks = new AtomicInteger();
      var allStarted = new CountDownLatch(number);
      for (int i = 0; i < number; i++) {
        boolean neverEnds = i < 3;
        GuaranteedStart.start(() -> {
          startedTasks.incrementAndGet();
          allStarted.countDown();
          if (neverEnds) while (true) sum++;
        });
      }
      Patience.await(allStarted);
      return "" + startedTasks;
    }
  }

  /**
   * Sets the maximum number of carriers to one, because the JDK otherwise adds a carrier while
   * another carrier blocks, for example in class loading.
   */
  @Promise({"6.10", "7.5"})
  @Test
  void limitsExpireAndScopesCloseWhileCarriersAreBusy() throws Exception {
    var oneCarrier =
        List.of("-Djdk.virtualThreadScheduler.parallelism=1", "-Djdk.virtualThreadScheduler.maxPoolSize=1");
    try (var child = Child.java(oneCarrier, BusyCarrierProgram.class)) {
      assertEquals(
          "ask of a fiber: true\nask of a thread: true\ntexts: [1][2]\ntasks: 1000\ninnocent scope: innocent\n"
              + "busy scope: busy",
          withoutLog(child.awaitExit(0)));
    }
  }

  private static String withoutLog(String text) {
    return String.join("\n", text.lines().filter(line -> !line.startsWith("[")).toList());
  }
}
