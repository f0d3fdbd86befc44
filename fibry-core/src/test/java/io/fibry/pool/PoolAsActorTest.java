package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.AskTimeoutException;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.MailboxFullException;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.spi.BlockBuilder;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tests that a pool can be used as an actor: its mailbox, name, dump and refusals. */
class PoolAsActorTest extends PoolFixture {
  // ---- the mailbox

  @Promise("20.9")
  @Test
  void poolUsesMailboxOfBuilder() {
    var pool = echo(Pools.fixed(builder.mailbox(Mailbox.bounded(2, Overflow.REJECT)), 1));
    Gate.occupy((Actor<Object>) pool);

    assertTrue(pool.sendMessage(1) && pool.sendMessage(2));

    assertFalse(pool.sendMessage(3));
    assertEquals(List.of(3), letters.messages(Reason.REJECTED));
    assertThrows(MailboxFullException.class, () -> pool.ask(4));
  }

  @Promise("20.9")
  @Test
  void mailboxOfPoolIsBoundedAndBlocksSendersByDefault() {
    assertEquals("bounded(1024, BLOCK)", BlockBuilder.of(Pools.fixed(builder, 2)).mailbox().toString());
    assertEquals("unbounded",
        BlockBuilder.of(Pools.fixed(builder.mailbox(Mailbox.unbounded()), 2)).mailbox().toString());
    assertEquals("bounded(7, REJECT)",
        BlockBuilder.of(Pools.fixed(builder, 2).mailbox(Mailbox.bounded(7, Overflow.REJECT))).mailbox().toString());
  }

  @Test
  void priorityMailboxGivesSmallestMessageToFreeWorker() {
    var order = new CopyOnWriteArrayList<Object>();
    var pool = Pools
        .fixed(builder.mailbox(
            Mailbox.priority(Comparator.comparing((Object message) -> message instanceof Gate ? 0 : (int) message))), 1)
        .newActor((Object message) -> {
          pass(message);
          if (message instanceof Integer) order.add(message);
        });
    var gate = Gate.occupy(pool);
    List.of(3, 1, 2).forEach(pool::sendMessage);

    gate.open();
    pool.close();

    assertEquals(List.of(1, 2, 3), order);
  }

  @Test
  void dropOldestDropsOldestMessageRegardlessOfKey() {
    var pool = Pools
        .byKey(builder.mailbox(Mailbox.bounded(3, Overflow.DROP_OLDEST)), 1,
            (Object message) -> message instanceof Gate ? "gate" : message.toString().substring(0, 1))
        .newActor((Object message) -> pass(message));
    Gate.occupy(pool);

    List.of("a1", "a2", "b1", "b2", "c1").forEach(pool::sendMessage);

    assertEquals(List.of("a1", "a2"), letters.messages(Reason.DROPPED));
  }

  @Promise("3.5")
  @Test
  void dropOldestOfPoolByKeyDropsMessagesButNoTasks() {
    var pool = Pools.byKey(builder.mailbox(Mailbox.bounded(1, Overflow.DROP_OLDEST)), 1, Object::getClass)
        .newActor((Object message) -> pass(message));
    Gate.occupy(pool);
    var task = CompletableFuture.supplyAsync(() -> "ran", pool);

    List.of("a1", "a2").forEach(pool::sendMessage);
    Gate.openAll();

    assertEquals("ran", Patience.value(task));
    assertEquals(List.of("a1"), letters.messages(Reason.DROPPED));
  }

  // ---- as an actor

  @Test
  void poolIsFoundByNameAndItsWorkersAreNamedAfterIt() {
    var pool = Pools.fixed(scope.named("images").protocol(String.class), 2)
        .newActorWithReturn((String message) -> Thread.currentThread().getName());

    var thread = pool.ask("who?");

    assertEquals(pool, scope.find("images", String.class).orElseThrow());
    assertEquals("images/1", thread);
  }

  @Test
  void sinkOfPoolRunsCodeOnStateOfFreeWorker() {
    var stateCount = new AtomicInteger();
    var sink = Pools.fixed(builder, 2).initialState(stateCount::incrementAndGet).newSink();
    var gate = Gate.occupy(sink);

    int state = sink.ask(value -> value);

    assertEquals(2, state);
    gate.open();
    sink.close();
  }

  @Test
  void dumpShowsBusyWorkers() {
    var pool = Pools.fixed(scope.named("images"), 3).newActor((Object message) -> pass(message));
    Gate.occupy(pool);
    Gate.occupy(pool);

    var dump = scope.dump();

    assertTrue(dump.contains("images (pool of 3, FIBER): 2 of 3 at work; 0 handled"), dump);
    assertTrue(dump.contains("    images/2 (FIBER): "), dump);
  }

  @Test
  void askTimeoutShowsStackOfBusyWorker() {
    var pool = echo(Pools.fixed(scope.named("images"), 1));
    Gate.occupy((Actor<Object>) pool);

    var timeout = assertThrows(AskTimeoutException.class, () -> pool.ask("x", Duration.ofMillis(50)));

    assertTrue(
        timeout.getMessage()
            .contains("its handler had not begun, and will not begin: it was number 1 in the queue; the actor "),
        timeout.getMessage());
    assertTrue(timeout.getMessage().contains("Gate.pass"), timeout.getMessage());
  }

  @Test
  void awaitQuiescenceWaitsForMessagesTakenByWorkers() {
    var handled = new AtomicInteger();
    var pool = Pools.fixed(builder, 4).newActor((Object message) -> handled.incrementAndGet());

    for (int i = 1; i <= 200; i++) {
      for (int j = 0; j < 10; j++) pool.sendMessage(j);
      assertTrue(scope.awaitQuiescence(Patience.LONG));
      assertEquals(10 * i, handled.get());
    }
  }

  @Test
  void poolEndsAsFailedAtNextMessageAfterExecutorShutdown() {
    var executor = Executors.newFixedThreadPool(2);
    var pool = echo(Pools.fixed(builder.strategy(Strategy.of(executor)), 2));
    assertEquals(1, pool.ask(1));
    // waits until the worker is idle, because a worker that is about to become idle would still
    // handle the next message
    assertTrue(scope.awaitQuiescence(Patience.LONG));

    executor.shutdown();
    pool.sendMessage(2);

    Patience.awaitEnd(pool::waitForExit);
    assertInstanceOf(ExitReason.Failed.class, pool.onExit().join());
  }

  @Test
  void workerStartIsRetriedWhenStrategyGivesNoThread() {
    var remainingRefusals = new AtomicInteger(9); // the retries take about a second of backoff
    Strategy unreliableStrategy = activation -> {
      if (remainingRefusals.getAndDecrement() > 0) throw new IllegalStateException("no thread today");
      Thread.startVirtualThread(activation);
    };
    var pool = echo(Pools.fixed(builder.strategy(unreliableStrategy), 2));

    try (var logged = new Logged()) {
      assertEquals(1, pool.ask(1));
      assertTrue(logged.text().contains("no thread today"), logged.text());
    }
  }

  @Test
  void invalidPoolArgumentsAreRefused() {
    assertText("a pool of at least 0 workers cannot have 0 at most; give 1 or more", () -> Pools.fixed(builder, 0));
    assertText("a pool cannot keep -1 workers; give 0 or more", () -> Pools.scaling(builder, -1, 2));
    assertText("a pool of at least 3 workers cannot have 2 at most; give 3 or more",
        () -> Pools.scaling(builder, 3, 2));
    assertText("a pool of 0 permits could handle no message; give at least 1",
        () -> Pools.weighted(builder, 0, (Object message) -> 1));
    assertText("a pool of 0 workers could handle no message; give at least 1",
        () -> Pools.byKey(builder, 0, (Object message) -> message));
    assertText("this builder already makes pools (pool of 2); make the worker per message with a builder of actors",
        () -> Pools.perMessage(Pools.fixed(builder, 2)));
    assertThrows(NullPointerException.class, () -> Pools.byKey(builder, 1, null));
    assertThrows(NullPointerException.class, () -> Pools.weighted(builder, 1, null));
  }

  @Test
  void poolRefusesMessageListsAndUnsuitableMailboxesAndSinks() {
    var pool = Pools.fixed(scope.named("images"), 2).newActor((Object message) -> {});

    assertEquals("actor 'images' is a pool, which cannot keep a batch together; send the messages one by one",
        assertThrows(UnsupportedOperationException.class, () -> pool.sendMessages(List.of(1, 2))).getMessage());
    assertText(
        "the workers of a pool share one mailbox (unbounded, selective), so none of them can choose from it; give "
            + "the pool a mailbox that is not selective",
        () -> Pools.fixed(builder.mailbox(Mailbox.unbounded().selective()), 2).newActor((Object message) -> {}));
    assertText(
        "a pool by key keeps the messages of a key in the order they came, and a priority mailbox does not; give "
            + "it another mailbox",
        () -> Pools.byKey(builder.mailbox(Mailbox.priority((a, b) -> 0)), 2, (Object message) -> message)
            .newActor((Object message) -> {}));
    assertText("a sink runs code, which has neither weight nor key; make the sink with a pool of another kind",
        () -> Pools.byKey(builder, 2, (Object message) -> message).newSink());
  }

  private static void assertText(String text, org.junit.jupiter.api.function.Executable code) {
    assertEquals(text, assertThrows(IllegalArgumentException.class, code).getMessage());
  }

  @Test
  void poolHandlesInlineRequestOnThreadOfWorker() {
    var pool = Pools.fixed(builder.inlineRequests(), 2).newActorWithReturn((Object message) -> Thread.currentThread());

    var asker = new CompletableFuture<Thread>();
    var worker = new CompletableFuture<Thread>();
    Thread.startVirtualThread(() -> {
      asker.complete(Thread.currentThread());
      worker.complete(pool.ask("who?"));
    });

    assertNotEquals(Patience.value(asker), Patience.value(worker));
  }
}
