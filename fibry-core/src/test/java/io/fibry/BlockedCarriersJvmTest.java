package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.engine.jvm.GuaranteedStart;
import io.fibry.engine.jvm.MessageTexts;
import io.fibry.support.Child;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Handlers on fibers compute for ever, on every carrier. Limits, kills and closes need none. */
class BlockedCarriersJvmTest {
  private static final Duration SHORT = Duration.ofMillis(100);

  /** Prints line by line the calls that still work. */
  static final class Taken {
    private static volatile int sum;

    public static void main(String[] args) throws InterruptedException {
      var scope = ActorSystem.openScope("busy", options -> options.withKillGrace(SHORT));
      var innocent = ActorSystem.openScope("innocent", options -> options.withKillGrace(SHORT));
      var onFiber = innocent.anonymous().newActorWithReturn((String message) -> message);
      var onThread = innocent.anonymous().strategy(Strategy.THREAD).newActorWithReturn((String message) -> {
        new CountDownLatch(1).await();
        return message;
      });
      var started = new CountDownLatch(1);
      scope.anonymous().newActor((String message) -> {
        started.countDown();
        while (true) sum++;
      }).sendMessage("compute");
      started.await();

      System.out.println("ask of a fiber: " + timesOut(onFiber));
      System.out.println("ask of a thread: " + timesOut(onThread));
      System.out.println("texts: " + MessageTexts.describe(List.of(1)) + MessageTexts.describe(List.of(2)));
      System.out.println("tasks: " + tasks(1_000));
      System.out.println("innocent scope: " + innocent.closeWithin(SHORT).scope());
      System.out.println("busy scope: " + scope.closeWithin(SHORT).scope());
      System.exit(0);
    }

    private static boolean timesOut(ActorWithReturn<String, String> actor) {
      try {
        actor.ask("?", SHORT);
        return false;
      } catch (AskTimeoutException late) {
        return true;
      }
    }

    /** The first ones hang. */
    private static String tasks(int number) {
      var begun = new AtomicInteger();
      var done = new CountDownLatch(number);
      for (int i = 0; i < number; i++) {
        boolean hangs = i < 3;
        GuaranteedStart.start(() -> {
          begun.incrementAndGet();
          done.countDown();
          if (hangs) while (true) sum++;
        });
      }
      Patience.await(done);
      return "" + begun;
    }
  }

  /** The JDK adds a carrier while one blocks, as in loading a class; so the most is one, too. */
  @Promise({"6.10", "7.5"})
  @Test
  void limitsExpireAndScopesCloseWhileCarriersAreTaken() throws Exception {
    var oneCarrier =
        List.of("-Djdk.virtualThreadScheduler.parallelism=1", "-Djdk.virtualThreadScheduler.maxPoolSize=1");
    try (var child = Child.java(oneCarrier, Taken.class)) {
      assertEquals(
          "ask of a fiber: true\nask of a thread: true\ntexts: [1][2]\ntasks: 1000\ninnocent scope: innocent\n"
              + "busy scope: busy",
          withoutLog(child.ended(0)));
    }
  }

  private static String withoutLog(String text) {
    return String.join("\n", text.lines().filter(line -> !line.startsWith("[")).toList());
  }
}
