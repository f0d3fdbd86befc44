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
import io.fibry.Gate;
import io.fibry.MailboxFullException;
import io.fibry.Promise;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.spi.BlockBuilder;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A pool as an actor: mailbox, name, dump, refusals. */
class PoolAsActorTest extends PoolFixture {
  // ---- the mailbox

  @Promise("20.9")
  @Test
  void mailboxOfPoolIsThatOfBuilder() {
    var pool = echo(Pools.fixed(how.mailbox(Mailbox.bounded(2, Overflow.REJECT)), 1));
    Gate.occupy((Actor<Object>) pool);

    assertTrue(pool.sendMessage(1) && pool.sendMessage(2));

    assertFalse(pool.sendMessage(3));
    assertEquals(List.of(3), letters.messages(Reason.REJECTED));
    assertThrows(MailboxFullException.class, () -> pool.ask(4));
  }

  @Promise("20.9")
  @Test
  void mailboxOfPoolIsBoundedAndBlocksSendersByDefault() {
    assertEquals("bounded(1024, BLOCK)", BlockBuilder.of(Pools.fixed(how, 2)).mailbox().toString());
    assertEquals("unbounded", BlockBuilder.of(Pools.fixed(how.mailbox(Mailbox.unbounded()), 2)).mailbox().toString());
    assertEquals("bounded(7, REJECT)",
        BlockBuilder.of(Pools.fixed(how, 2).mailbox(Mailbox.bounded(7, Overflow.REJECT))).mailbox().toString());
  }

  @Test
  void aPriorityMailboxGivesTheSmallestToWhoeverIsFree() {
    var order = new CopyOnWriteArrayList<Object>();
    var pool = Pools
        .fixed(how.mailbox(
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
  void dropOldestDropsTheOldestOfAllKeys() {
    var pool = Pools
        .byKey(how.mailbox(Mailbox.bounded(3, Overflow.DROP_OLDEST)), 1,
            (Object message) -> message instanceof Gate ? "gate" : message.toString().substring(0, 1))
        .newActor((Object message) -> pass(message));
    Gate.occupy(pool);

    List.of("a1", "a2", "b1", "b2", "c1").forEach(pool::sendMessage);

    assertEquals(List.of("a1", "a2"), letters.messages(Reason.DROPPED));
  }

  @Promise("3.5")
  @Test
  void dropOldestDropsNoTasksOfAPoolByKey() {
    var pool = Pools.byKey(how.mailbox(Mailbox.bounded(1, Overflow.DROP_OLDEST)), 1, Object::getClass)
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
  void aPoolIsFoundByItsNameAndItsWorkersBearIt() {
    var pool = Pools.fixed(scope.named("images").protocol(String.class), 2)
        .newActorWithReturn((String message) -> Thread.currentThread().getName());

    var thread = pool.ask("who?");

    assertEquals(pool, scope.find("images", String.class).orElseThrow());
    assertEquals("images/1", thread);
  }

  @Test
  void aSinkOfAPoolRunsCodeOnAnyOfItsStates() {
    var made = new AtomicInteger();
    var sink = Pools.fixed(how, 2).initialState(made::incrementAndGet).newSink();
    var gate = Gate.occupy(sink);

    int state = sink.ask(own -> own);

    assertEquals(2, state);
    gate.open();
    sink.close();
  }

  @Test
  void theDumpShowsWhoIsAtWork() {
    var pool = Pools.fixed(scope.named("images"), 3).newActor((Object message) -> pass(message));
    Gate.occupy(pool);
    Gate.occupy(pool);

    var dump = scope.dump();

    assertTrue(dump.contains("images (pool of 3, FIBER): 2 of 2 at work; 0 handled"), dump);
    assertTrue(dump.contains("    images/2 (FIBER): "), dump);
  }

  @Test
  void aTimeOutSaysWhatTheWorkerIsDoing() {
    var pool = echo(Pools.fixed(scope.named("images"), 1));
    Gate.occupy((Actor<Object>) pool);

    var late = assertThrows(AskTimeoutException.class, () -> pool.ask("x", Duration.ofMillis(50)));

    assertTrue(
        late.getMessage().contains("its turn had not come, and will not: it was number 1 in the queue; the actor "),
        late.getMessage());
    assertTrue(late.getMessage().contains("Gate.pass"), late.getMessage());
  }

  @Test
  void awaitQuietWaitsForWhatLiesBetweenQueueAndWorker() {
    var handled = new AtomicInteger();
    var pool = Pools.fixed(how, 4).newActor((Object message) -> handled.incrementAndGet());

    for (int i = 1; i <= 200; i++) {
      for (int j = 0; j < 10; j++) pool.sendMessage(j);
      assertTrue(scope.awaitQuiescence(Patience.LONG));
      assertEquals(10 * i, handled.get());
    }
  }

  @Test
  void poolFailsWhenItsExecutorIsShutDown() {
    var executor = Executors.newFixedThreadPool(2);
    var pool = echo(Pools.fixed(how.strategy(Strategy.of(executor)), 2));
    assertEquals(1, pool.ask(1));
    // a worker that is about to rest would take the next message along
    assertTrue(scope.awaitQuiescence(Patience.LONG));

    executor.shutdown();
    pool.sendMessage(2);

    Patience.ended(pool::waitForExit);
    assertInstanceOf(ExitReason.Failed.class, pool.onExit().join());
  }

  @Test
  void workersThatGetNoThreadAreTriedAgain() {
    var refusals = new AtomicInteger(9); // a second of back-off
    Strategy moody = activation -> {
      if (refusals.getAndDecrement() > 0) throw new IllegalStateException("no thread today");
      Thread.startVirtualThread(activation);
    };
    var pool = echo(Pools.fixed(how.strategy(moody), 2));

    try (var log = new Logged()) {
      assertEquals(1, pool.ask(1));
      assertTrue(log.text().contains("no thread today"), log.text());
    }
  }

  @Test
  void badNumbersAreRefused() {
    assertText("a pool of at least 0 workers cannot have 0 at most; give 1 or more", () -> Pools.fixed(how, 0));
    assertText("a pool cannot keep -1 workers; give 0 or more", () -> Pools.scaling(how, -1, 2));
    assertText("a pool of at least 3 workers cannot have 2 at most; give 3 or more", () -> Pools.scaling(how, 3, 2));
    assertText("a pool of 0 permits could handle no message; give at least 1",
        () -> Pools.weighted(how, 0, (Object message) -> 1));
    assertText("a pool of 0 workers could handle no message; give at least 1",
        () -> Pools.byKey(how, 0, (Object message) -> message));
    assertText("this is a builder of pools already (pool of 2); make the worker per message of a builder of actors",
        () -> Pools.perMessage(Pools.fixed(how, 2)));
    assertThrows(NullPointerException.class, () -> Pools.byKey(how, 1, null));
    assertThrows(NullPointerException.class, () -> Pools.weighted(how, 1, null));
  }

  @Test
  void unsupportedUseOfPoolIsRefused() {
    var pool = Pools.fixed(scope.named("images"), 2).newActor((Object message) -> {});

    assertEquals("actor 'images' is a pool, which cannot keep a block together; send the messages one by one",
        assertThrows(UnsupportedOperationException.class, () -> pool.sendMessages(List.of(1, 2))).getMessage());
    assertText(
        "the workers of a pool share one mailbox (unbounded, selective), so none of them can choose from it; give "
            + "the pool a mailbox that is not selective",
        () -> Pools.fixed(how.mailbox(Mailbox.unbounded().selective()), 2).newActor((Object message) -> {}));
    assertText(
        "a pool by key keeps the messages of a key in the order they came, and a priority mailbox does not; give "
            + "it another mailbox",
        () -> Pools.byKey(how.mailbox(Mailbox.priority((a, b) -> 0)), 2, (Object message) -> message)
            .newActor((Object message) -> {}));
    assertText("a sink runs code, which has neither weight nor key; make the sink of a pool of another kind",
        () -> Pools.byKey(how, 2, (Object message) -> message).newSink());
  }

  private static void assertText(String text, org.junit.jupiter.api.function.Executable code) {
    assertEquals(text, assertThrows(IllegalArgumentException.class, code).getMessage());
  }

  @Test
  void inlineRequestsChangeNothing() {
    var pool = Pools.fixed(how.inlineRequests(), 2).newActorWithReturn((Object message) -> Thread.currentThread());

    var asker = new CompletableFuture<Thread>();
    var worker = new CompletableFuture<Thread>();
    Thread.startVirtualThread(() -> {
      asker.complete(Thread.currentThread());
      worker.complete(pool.ask("who?"));
    });

    assertNotEquals(Patience.value(asker), Patience.value(worker));
  }
}
