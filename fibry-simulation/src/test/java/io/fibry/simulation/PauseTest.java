package io.fibry.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.AskTimeoutException;
import io.fibry.Strategy;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

/** Tests what happens on a node while it is paused, and afterwards. */
class PauseTest {
  private static final Duration PAUSE = Duration.ofSeconds(10);

  private static void simulate(Simulation.Program program) {
    Simulation.run(options -> options.withSeeds(100), program);
  }

  /** Starts a thread of the node that records the time each second; returns its records. */
  private static List<Long> startTicks(Simulation sim, SimulatedNode node) {
    var seconds = new ArrayList<Long>();
    node.start("ticks", () -> {
      for (int i = 0; i < 3; i++) {
        Thread.sleep(1_000);
        seconds.add(sim.time().toSeconds());
      }
      return null;
    });
    return seconds;
  }

  @Test
  @Promise("29.14")
  void pausedNodeRunsNothingWhileClocksAdvance() {
    simulate(sim -> {
      var node = sim.node("one");
      var seconds = startTicks(sim, node);
      Thread.sleep(1_500);

      node.freeze(PAUSE);
      Thread.sleep(PAUSE.minusMillis(1));
      assertEquals(List.of(1L), seconds);
      Thread.sleep(2_000);

      assertEquals(List.of(1L, 11L, 12L), seconds);
    });
  }

  @Test
  @Promise("29.14")
  void timerDueDuringPauseFiresOnceAfterPause() {
    simulate(sim -> {
      var node = sim.node("one");
      var seconds = new ArrayList<Long>();
      var clock = node.openScope("scope").named("clock").newActor((String tick) -> seconds.add(sim.time().toSeconds()));
      node.start("program", () -> clock.sendMessageEvery("tick", Duration.ofSeconds(1)));
      Thread.sleep(1_500);

      node.freeze(Duration.ofSeconds(3));
      Thread.sleep(4_000);

      assertEquals(List.of(1L, 4L, 5L), seconds);
    });
  }

  @Test
  @Promise("29.14")
  void messageToPausedNodeIsHandledAfterPause() {
    simulate(sim -> {
      var node = sim.node("one");
      var actor = node.openScope("scope").named("actor").newActorWithReturn((String message) -> sim.time());
      assertEquals(Duration.ZERO, actor.ask("a"));

      node.freeze(PAUSE);
      var answer = actor.sendMessageReturn("b");
      assertThrows(AskTimeoutException.class, () -> actor.ask("c", Duration.ofSeconds(5)));

      assertEquals(PAUSE, answer.get());
    });
  }

  @Test
  void echoFromServerOnPausedNodeArrivesAfterPause() {
    simulate(sim -> {
      var node = sim.node("server");
      var port = new int[1];
      node.start("echo", () -> {
        try (var listener = new ServerSocket(0)) {
          port[0] = listener.getLocalPort();
          try (var socket = listener.accept()) {
            return socket.getInputStream().transferTo(socket.getOutputStream());
          }
        }
      });
      sim.assertEventually("the server listens", Duration.ofSeconds(1), () -> port[0] != 0);

      node.freeze(PAUSE);
      var start = sim.time();
      try (var socket = new Socket(InetAddress.getLoopbackAddress(), port[0])) {
        socket.getOutputStream().write(7);
        assertEquals(7, socket.getInputStream().read());
      }

      assertTrue(sim.time().minus(start).compareTo(PAUSE.minusSeconds(1)) > 0, () -> sim.time().toString());
    });
  }

  /** Runs in the order of a quiet machine: the thread that became ready first runs first. */
  @Test
  @Promise("29.15")
  void workDueDuringPauseRunsInDueOrderAfterPause() {
    Simulation.run(options -> options.withSeeds(0), sim -> {
      var node = sim.node("one");
      var order = new ArrayList<String>();
      var actor = node.openScope("scope").named("actor").newActor((String message) -> order.add(message));
      for (int second : List.of(4, 10, 2)) node.start("sleeper", () -> {
        Thread.sleep(second * 1_000L);
        return order.add("after " + second);
      });
      Thread.sleep(1);

      node.freeze(PAUSE.minusMillis(1)); // ends when the last sleeper is due
      Thread.sleep(3_000);
      actor.sendMessage("after 3");
      Thread.sleep(PAUSE);

      assertEquals(List.of("after 2", "after 3", "after 4", "after 10"), order);
    });
  }

  @Test
  @Promise("29.15")
  void crashOfNodeEndsItsPause() {
    simulate(sim -> {
      var node = sim.node("one");
      var seconds = startTicks(sim, node);
      var actor = node.openScope("scope").named("actor").newActor((String message) -> seconds.add(0L));
      Thread.sleep(500);
      node.freeze(PAUSE);
      actor.sendMessage("never handled");
      Thread.sleep(PAUSE.dividedBy(2));

      node.crash();
      var secondsAfterRestart = startTicks(sim, node.restart());
      Thread.sleep(PAUSE);

      assertEquals(List.of(), seconds);
      assertEquals(List.of(6L, 7L, 8L), secondsAfterRestart);
    });
  }

  @Test
  void nodeResumesAtLatestEndOfOverlappingPauses() {
    simulate(sim -> {
      var node = sim.node("one");
      var seconds = startTicks(sim, node);
      Thread.sleep(1);
      node.freeze(Duration.ofSeconds(5));
      node.freeze(Duration.ofSeconds(2));
      Thread.sleep(4_000);
      node.freeze(Duration.ofSeconds(4));
      Thread.sleep(4_500);
      assertEquals(List.of(8L), seconds);
    });
  }

  @Test
  void programThatPausesItsNodeContinuesAfterPause() {
    simulate(sim -> {
      var node = sim.node("one");
      var times = new ArrayList<Duration>();
      node.start("program", () -> {
        node.freeze(PAUSE);
        return times.add(sim.time());
      });
      Thread.sleep(PAUSE.plusMillis(1));
      assertEquals(List.of(PAUSE), times);
    });
  }

  /** The strategy CALLER handles a message on the sender's thread. */
  @Test
  void sendToActorOnCallerStrategyWaitsUntilPauseOfNodeEnds() {
    simulate(sim -> {
      var node = sim.node("one");
      var times = new ArrayList<Duration>();
      var actor = node.openScope("scope").anonymous().strategy(Strategy.CALLER)
          .newActor((String message) -> times.add(sim.time()));
      node.freeze(PAUSE);
      actor.sendMessage("hello");
      assertEquals(List.of(PAUSE), times);
    });
  }

  @Test
  void invalidPausesAreRefused() {
    simulate(sim -> {
      var node = sim.node("one");
      var failure = assertThrows(IllegalArgumentException.class, () -> node.freeze(Duration.ZERO));
      assertEquals("a pause of 0 s has no effect; give more than zero", failure.getMessage());
      assertThrows(IllegalArgumentException.class, () -> node.freeze(Duration.ofSeconds(-1)));
      node.crash();
      var refusal = assertThrows(IllegalStateException.class, () -> node.freeze(PAUSE));
      assertEquals("node one has crashed; use the node that restart() returns", refusal.getMessage());
    });
  }

  @Test
  void deadlockWithPausedNodeIsReportedAfterPause() {
    var failure = assertThrows(SimulationFailure.class, () -> simulate(sim -> {
      var node = sim.node("one");
      var leftFork = new ReentrantLock();
      var rightFork = new ReentrantLock();
      node.start("other", () -> {
        leftFork.lock();
        Thread.sleep(5_000);
        rightFork.lock();
        return null;
      });
      rightFork.lock();
      Thread.sleep(1);
      node.freeze(PAUSE);
      leftFork.lock();
    }));

    assertTrue(failure.getMessage().contains("deadlock: no thread can run, and no timer is due; waiting:\n  main at "),
        failure.getMessage());
    assertTrue(failure.getMessage().contains("** pause of one, 10 s"), failure.getMessage());
  }

  @Test
  void replayOfSeedRepeatsRunWithPauses() {
    Set<List<String>> runs = new HashSet<>();

    for (int i = 0; i < 20; i++) {
      var events = new ArrayList<String>();
      Simulation.run(options -> options.withReplay("7"), sim -> {
        events.clear(); // a replay runs the program twice; only the second run counts
        sendWithPauses(sim, events);
      });
      runs.add(events);
    }

    assertEquals(1, runs.size(), runs::toString);
  }

  private static void sendWithPauses(Simulation sim, List<String> events) throws IOException, InterruptedException {
    for (var name : List.of("a", "b")) {
      var node = sim.node(name);
      var actor = node.openScope("scope").named(name).newActor((String message) -> {
        Thread.sleep(sim.random().nextInt(1_000));
        events.add(name + " " + message + " " + sim.time());
      });
      node.start("program", () -> actor.sendMessageEvery("tick", Duration.ofMillis(300)));
      sim.client("pauses " + name, () -> {
        for (int i = 0; i < 5; i++) {
          Thread.sleep(sim.random().nextInt(2_000));
          actor.sendMessage("message " + i);
          node.freeze(Duration.ofMillis(1 + sim.random().nextInt(2_000)));
        }
        return null;
      });
    }
    sim.join();
  }
}
