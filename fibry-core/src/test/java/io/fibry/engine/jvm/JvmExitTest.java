package io.fibry.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.stress.StressHarness;
import io.fibry.support.Child;
import io.fibry.support.Soak;
import io.fibry.testing.Promise;
import io.fibry.testing.StressRuns;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JvmExitTest {
  private static final List<Strategy> STRATEGIES =
      List.of(Strategy.FIBER, Strategy.THREAD, Strategy.RESIDENT_FIBER, Strategy.CALLER);

  /**
   * For every strategy and two mailboxes, creates a blocked actor and an actor with a timer. The
   * main method then returns.
   */
  static final class ReturningMain {
    public static void main(String[] args) throws InterruptedException {
      for (var strategy : STRATEGIES) {
        for (var mailbox : List.of(Mailbox.unbounded(), Mailbox.unbounded().selective())) {
          var blockedActor = ActorSystem.anonymous().strategy(strategy == Strategy.CALLER ? Strategy.THREAD : strategy)
              .mailbox(mailbox).newActor((Object message) -> new CountDownLatch(1).await());
          blockedActor.sendMessage("never ends");
          var timerActor = ActorSystem.named(strategy + ", " + mailbox).strategy(strategy).mailbox(mailbox)
              .newActorWithReturn((Object message) -> message);
          timerActor.sendMessageEvery("tick", Duration.ofMillis(1));
          timerActor.ask("now");
        }
      }
      System.out.println("main returns");
    }
  }

  static final class ClosingMain {
    public static void main(String[] args) {
      var handled = new ArrayList<Integer>();
      for (var strategy : STRATEGIES)
        try (var actor = ActorSystem.anonymous().strategy(strategy).newActor((Integer i) -> handled.add(i))) {
          for (int i = 0; i < 1_000; i++) actor.sendMessage(i);
        }
      System.out.println("handled " + handled.size());
    }
  }

  static final class WaitingMain {
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

  static final class CreatingMain {
    public static void main(String[] args) {
      ActorSystem.anonymous().strategy(Strategy.THREAD).newActor((Integer i) -> {});
      System.out.println("made an actor");
    }
  }

  @Promise("13.3")
  @Test
  void noActorKeepsJvmRunning() throws Exception {
    try (var child = Child.java(List.of(), ReturningMain.class)) {
      String printed = child.awaitExit(0);

      assertTrue(printed.endsWith("main returns"), printed);
    }
  }

  @Test
  void closeInMainHandlesAllMessages() throws Exception {
    try (var child = Child.java(List.of(), ClosingMain.class)) {
      String printed = child.awaitExit(0);

      assertEquals("handled 4000", printed);
    }
  }

  @Promise("13.3")
  @Test
  void terminationSignalRunsShutdownHookAndEndsWaitingMain() throws Exception {
    try (var child = Child.java(List.of(), WaitingMain.class)) {
      child.awaitLine("ready");

      child.terminate();

      assertEquals("ready\nready\nclosed by the shutdown hook", child.awaitExit(143));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"-XX:ActiveProcessorCount=1", "-Djdk.virtualThreadScheduler.parallelism=1"})
  void stressHarnessPassesOnOneCoreOrOneCarrier(String flag) throws Exception {
    String seed = "-Dfibry.seed=" + StressRuns.seed();
    try (var child = Child.java(List.of(flag, seed, "-Dfibry.soak=" + Soak.ON),
        StressHarness.class, String.valueOf(StressRuns.millis(300)))) {
      String printed = child.awaitExit(0);

      assertTrue(printed.contains("rounds: "), printed);
    }
  }

  /**
   * On Java 21 fibers need {@code jdk.internal.misc.VirtualThreads} to park. If its first use
   * occurred near the end of a stack, its initialization would fail forever, and no fiber could
   * park.
   */
  @EnabledForJreRange(max = JRE.JAVA_21) // later versions park fibers without this class
  @Test
  void jdkClassForParkingIsInitializedBeforeFirstActorIsCreated() throws Exception {
    try (var child = Child.java(List.of("-Xlog:class+init=info"), CreatingMain.class)) {
      String printed = child.awaitExit(0);

      String logBeforeActor = printed.substring(0, printed.indexOf("made an actor"));
      assertTrue(logBeforeActor.contains("'jdk/internal/misc/VirtualThreads'"), logBeforeActor);
    }
  }

  @Test
  void classLoaderOfCodeThatFirstUsedFibryIsCollected() throws Exception {
    try (var child = Child.java(List.of(), ClassLoaderLeakTest.FirstUserMain.class)) {
      String printed = child.awaitExit(0);

      assertEquals("collected: true", printed);
    }
  }
}
