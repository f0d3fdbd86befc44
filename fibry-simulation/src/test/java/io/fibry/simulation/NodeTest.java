package io.fibry.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.AskTimeoutException;
import io.fibry.Handler;
import io.fibry.Request;
import io.fibry.durable.Durable;
import io.fibry.store.Store;
import io.fibry.store.folder.FolderStore;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Patience;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class NodeTest {

  private static void simulate(Simulation.Program program) {
    Simulation.run(options -> options.withSeeds(100), program);
  }

  @Test
  @Promise("29.11")
  void crashEndsThreadsWithoutRunningFinallyBlocks() {
    simulate(sim -> {
      var node = sim.node("one");
      var continued = new AtomicBoolean();
      node.start("program", () -> {
        try {
          Thread.sleep(1_000);
        } finally {
          continued.set(true);
        }
        return null;
      });
      Thread.sleep(500);
      node.crash();
      Thread.sleep(1_000);
      assertFalse(continued.get());
    });
  }

  @Test
  @Promise("29.11")
  void killFaultSparesActorOfCrashedNode() {
    simulate(sim -> {
      var stopped = new AtomicBoolean();
      var hasCrashed = new AtomicBoolean();
      sim.faults().withAllKinds().withKills(1, actor -> hasCrashed.get() && actor.name().equals("victim"));
      var node = sim.node("one");
      var victim = node.openScope("scope").named("victim").initialState(Object::new).onStop(state -> stopped.set(true))
          .newActor((Object state, String message) -> {});
      var survivor = sim.scope().named("survivor").newActor((String message) -> {});
      victim.sendMessage("begin");
      Thread.sleep(1);
      node.crash();
      hasCrashed.set(true);
      survivor.sendMessage("hello");
      Thread.sleep(1_000);
      assertFalse(stopped.get());
    });
  }

  @Test
  @Promise("29.11")
  void askToActorOfCrashedNodeTimesOut() {
    simulate(sim -> {
      var node = sim.node("one");
      var actor = node.openScope("scope").named("actor").newActorWithReturn((String message) -> {
        Thread.sleep(10);
        return message;
      });
      assertEquals("a", actor.ask("a"));
      node.crash();
      assertThrows(AskTimeoutException.class, () -> actor.ask("b", Duration.ofSeconds(1)));
    });
  }

  /** A thread of the crashed node has started the thread of the receiver. */
  @Test
  void actorOutsideNodesHandlesMessagesAfterSenderNodeCrashes() {
    simulate(sim -> {
      var node = sim.node("one");
      var received = new HashSet<String>();
      var actor = sim.scope().named("actor").newActor((String message) -> {
        sim.yieldPoint();
        received.add(message);
      });
      node.start("sender", () -> actor.sendMessage("a"));
      while (sim.random().nextInt(4) > 0) sim.yieldPoint();
      node.crash();
      actor.sendMessage("b");
      assertTrue(sim.scope().awaitQuiescence(Duration.ofMinutes(1)));
      assertTrue(received.contains("b"));
    });
  }

  /** The library starts a thread for the callback, but none for the outside actor. */
  @Test
  @Promise("29.11")
  void runningCallbackStopsWhenItsNodeCrashes() {
    simulate(sim -> {
      var node = sim.node("one");
      var continued = new AtomicBoolean();
      var outsideActor = sim.scope().named("outside").newActor((String message) -> {});
      var actor = node.openScope("scope").named("actor").newActorWithReturn((String message) -> {
        outsideActor.sendMessage("hello");
        outsideActor.sendMessage("hello again"); // the outside actor already has a thread
        return message;
      });
      node.start("program", () -> actor.sendMessageReturn("a").thenRun(() -> {
        LockSupport.parkNanos(1_000_000_000);
        continued.set(true);
      }));
      Thread.sleep(500);
      node.crash();
      Thread.sleep(1_000);
      assertFalse(continued.get());
    });
  }

  @Test
  void programThatCrashesItsNodeDoesNotContinue() {
    simulate(sim -> {
      var node = sim.node("one");
      var continued = new AtomicBoolean();
      node.start("program", () -> {
        node.crash();
        continued.set(true);
        return null;
      });
      Thread.sleep(1);
      assertFalse(continued.get());
    });
  }

  @Test
  @Promise("29.12")
  void syncedDataSurvivesCrashAndUnsyncedMayBeLost() {
    Set<Integer> unsyncedValues = new HashSet<>();

    simulate(sim -> {
      var node = sim.node("one");
      var disk = node.disk();
      disk.create("file", 8);
      disk.syncDirectory();
      disk.write("file", 0, ByteBuffer.allocate(4).putInt(7).flip());
      disk.sync("file");
      disk.write("file", 4, ByteBuffer.allocate(4).putInt(8).flip());
      node.crash();

      var bytes = ByteBuffer.allocate(8);
      node.restart().disk().read("file", 0, bytes);
      assertEquals(7, bytes.getInt(0));
      unsyncedValues.add(bytes.getInt(4));
    });

    assertEquals(Set.of(0, 8), unsyncedValues);
  }

  @Test
  void diskFailsAsConfiguredUntilNodeCrashes() {
    simulate(sim -> {
      var node = sim.node("one");
      var disk = node.disk();
      disk.create("file", 4);
      disk.syncDirectory();
      node.failDiskOperations("sync"::equals);
      disk.write("file", 0, ByteBuffer.allocate(4).putInt(7).flip());
      var failure = assertThrows(IOException.class, () -> disk.sync("file"));
      assertEquals("simulated fault: sync on the disk of one", failure.getMessage());
      node.crash();

      var newDisk = node.restart().disk();
      newDisk.write("file", 0, ByteBuffer.allocate(4).putInt(8).flip());
      newDisk.sync("file");
    });
  }

  @Test
  void crashedNodeRefusesNewWork() {
    simulate(sim -> {
      var node = sim.node("one");
      assertThrows(IllegalStateException.class, node::restart);
      node.crash();
      node.crash();
      var refusal = assertThrows(IllegalStateException.class, () -> node.openScope("scope"));
      assertEquals("node one has crashed; use the node that restart() returns", refusal.getMessage());
      assertThrows(IllegalStateException.class, () -> node.start("program", () -> null));
      assertEquals("one", node.restart().name());
    });
  }

  @Test
  @Promise("29.16")
  void threadsOfClientsAndNodesRunCodeWithAndWithoutValue() {
    simulate(sim -> {
      var ran = new ArrayList<String>();
      sim.client("value", () -> ran.add("value"));
      sim.client("none", () -> {
        ran.add("none");
      });
      sim.node("one").start("value of node", () -> ran.add("value of node")).join();
      sim.node("two").start("none of node", () -> {
        ran.add("none of node");
      }).join();
      sim.join();
      assertEquals(Set.of("value", "none", "value of node", "none of node"), Set.copyOf(ran));
      Callable<String> noClient = null;
      Handler.Task noTask = null;
      assertEquals("code", assertThrows(NullPointerException.class, () -> sim.client("null", noClient)).getMessage());
      assertEquals("code", assertThrows(NullPointerException.class, () -> sim.client("null", noTask)).getMessage());
    });

    for (var program : List.<Simulation.Program>of(sim -> sim.client("writer", () -> failWithoutValue()),
        sim -> sim.node("one").start("writer", () -> failWithoutValue()))) {
      var failure = assertThrows(SimulationFailure.class, () -> simulate(program));
      assertTrue(failure.getMessage().contains("java.io.IOException: no ink"), failure.getMessage());
    }
  }

  private static void failWithoutValue() throws IOException {
    throw new IOException("no ink");
  }

  @Test
  void leftoverThreadIsReportedUnlessItsNodeCrashed() {
    simulate(sim -> {
      var node = sim.node("one");
      node.openScope("scope").named("actor").newActor((String message) -> {}).sendMessage("hello");
      node.start("program", () -> Thread.sleep(Duration.ofDays(1)));
      Thread.sleep(1);
      node.crash();
    });

    var failure = assertThrows(SimulationFailure.class,
        () -> simulate(sim -> sim.node("one").start("program", () -> Thread.sleep(Duration.ofDays(1)))));
    assertTrue(failure.getMessage().contains("threads were left\n  program at "), failure.getMessage());
  }

  @Test
  @Promise("29.11")
  void timersOfCrashedNodeDoNotFire() {
    simulate(sim -> {
      var node = sim.node("one");
      var ticks = new HashSet<Long>();
      var clock = node.openScope("scope").named("clock").newActor((String tick) -> ticks.add(System.nanoTime()));
      node.start("program", () -> clock.sendMessageEvery("tick", Duration.ofSeconds(1)));
      Thread.sleep(3_500);
      node.crash();
      Thread.sleep(10_000);
      assertEquals(3, ticks.size(), () -> List.copyOf(ticks).toString());
    });
  }

  /** The store is garbage although the crashed node's actors and threads never end. */
  @Test
  void storeOfCrashedNodeIsGarbageCollected() {
    record Count() implements Request<Count, Integer> {}
    var counter = Durable.kind("counter", Count.class).state(0).handler((n, count, context) -> {
      context.reply(count, n + 1);
      return n + 1;
    });
    var stores = new ArrayList<WeakReference<FolderStore>>();

    Runnable crash = () -> Simulation.run(options -> options.withSeeds(20), sim -> {
      var node = sim.node("one");
      var answer = new CompletableFuture<Integer>();
      node.start("program", () -> {
        var store = FolderStore.open(node.disk(), options -> options); // with files of 64 MiB
        stores.add(new WeakReference<>(store));
        return answer.complete(counter.newActor(node.openScope("scope").named("counter"), store).ask(new Count()));
      });
      assertEquals(1, answer.join());
      node.crash();
    });
    crash.run();
    stores.clear(); // with an agent, the JVM keeps each thread that loaded a class until that thread ends
    crash.run();

    Patience.eventually("a store is still referenced", () -> { // the carrier may refer to the last run for a moment
      System.gc();
      return stores.stream().allMatch(store -> store.refersTo(null));
    });
  }

  /** The index of a store has random fingerprints, which decide the order of its actors. */
  @Test
  void storeListsActorsInSameOrderInEachReplay() {
    Set<List<String>> orders = new HashSet<>();

    for (int i = 0; i < 3; i++) {
      var order = new ArrayList<String>();
      Simulation.run(options -> options.withReplay("7"), sim -> {
        order.clear(); // a replay runs the program twice; only the second run counts
        try (var store =
            StoreBackend.of(FolderStore.open(sim.node("one").disk(), options -> options.withSegmentBytes(4096)))) {
          for (int actor = 0; actor < 20; actor++) {
            var message =
                new StoreBackend.PendingMessage(new Store.ActorId("kind", "key" + actor), "id", Instant.EPOCH,
                    new byte[1]);
            assertTrue(store.enqueue(message, 1).toCompletableFuture().get());
          }
          store.forEachPending("kind", (actor, due) -> order.add(actor.key()));
        }
      });
      orders.add(order);
    }

    assertEquals(1, orders.size(), orders::toString);
  }
}
