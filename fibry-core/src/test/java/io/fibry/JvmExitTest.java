package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.mailbox.Mailbox;
import io.fibry.support.Child;
import io.fibry.support.Soak;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JvmExitTest {
  private static final List<Strategy> STRATEGIES =
      List.of(Strategy.FIBER, Strategy.THREAD, Strategy.RESIDENT_FIBER, Strategy.CALLER);

  /** Makes actors of every strategy, some busy, some idle, some blocked, and returns. */
  static final class Returns {
    public static void main(String[] args) throws InterruptedException {
      for (var strategy : STRATEGIES) {
        for (var mailbox : List.of(Mailbox.unbounded(), Mailbox.unbounded().selective())) {
          var blocked = ActorSystem.anonymous().strategy(strategy == Strategy.CALLER ? Strategy.THREAD : strategy)
              .mailbox(mailbox).newActor((Object message) -> new CountDownLatch(1).await());
          blocked.sendMessage("never ends");
          var idle = ActorSystem.named(strategy + ", " + mailbox).strategy(strategy).mailbox(mailbox)
              .newActorWithReturn((Object message) -> message);
          idle.sendMessageEvery("tick", Duration.ofMillis(1));
          idle.ask("now");
        }
      }
      System.out.println("main returns");
    }
  }

  static final class Closes {
    public static void main(String[] args) {
      var seen = new ArrayList<Integer>();
      for (var strategy : STRATEGIES)
        try (var actor = ActorSystem.anonymous().strategy(strategy).newActor((Integer i) -> seen.add(i))) {
          for (int i = 0; i < 1_000; i++) actor.sendMessage(i);
        }
      System.out.println("handled " + seen.size());
    }
  }

  static final class Waits {
    public static void main(String[] args) {
      var actor =
          ActorSystem.anonymous().strategy(Strategy.THREAD).newActor((Integer i) -> System.out.println("ready"));
      Runtime.getRuntime().addShutdownHook(new Thread(() -> {
        actor.sendMessage(2);
        actor.close();
        System.out.println("closed by the shutdown hook");
      }));
      actor.sendMessage(1);
      actor.waitForExit();
    }
  }

  static final class Caller {
    public static void main(String[] args) {
      ActorSystem.anonymous().strategy(Strategy.THREAD).newActor((Integer i) -> {});
      System.out.println("made an actor");
    }
  }

  @Promise("13.3")
  @Test
  void noActorKeepsTheJvmAlive() throws Exception {
    try (var child = Child.java(List.of(), Returns.class)) {
      String printed = child.ended(0);

      assertTrue(printed.endsWith("main returns"), printed);
    }
  }

  @Test
  void aMainThatClosesSeesItsMessagesHandled() throws Exception {
    try (var child = Child.java(List.of(), Closes.class)) {
      String printed = child.ended(0);

      assertEquals("handled 4000", printed);
    }
  }

  @Promise("13.3")
  @Test
  void signalRunsShutdownHookAndEndsWaitingMain() throws Exception {
    try (var child = Child.java(List.of(), Waits.class)) {
      child.awaitLine("ready");

      child.terminate();

      assertEquals("ready\nready\nclosed by the shutdown hook", child.ended(143));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"-XX:ActiveProcessorCount=1", "-Djdk.virtualThreadScheduler.parallelism=1"})
  void theContractHoldsOnOneCoreAndOnOneCarrier(String flag) throws Exception {
    String seed = "-Dfibry.seed=" + StressHarness.seed();
    try (var child = Child.java(List.of(flag, seed, "-Dfibry.soak=" + Soak.ON),
        StressHarness.class, String.valueOf(StressHarness.millis(300)))) {
      String printed = child.ended(0);

      assertTrue(printed.contains("rounds: "), printed);
    }
  }

  /** At the edge of a stack it would fail for ever, and no fiber could park (Java 21). */
  @Test
  void fiberParkingClassIsInitializedBeforeFirstPark() throws Exception {
    try (var child = Child.java(List.of("-Xlog:class+init=info"), Caller.class)) {
      String printed = child.ended(0);

      String before = printed.substring(0, printed.indexOf("made an actor"));
      assertTrue(Runtime.version().feature() > 21 || before.contains("'jdk/internal/misc/VirtualThreads'"), before);
    }
  }

  @Test
  void aLoaderThatUsesTheLibraryFirstIsCollected() throws Exception {
    try (var child = Child.java(List.of(), ClassLoaderLeakTest.First.class)) {
      String printed = child.ended(0);

      assertEquals("collected: true", printed);
    }
  }
}
