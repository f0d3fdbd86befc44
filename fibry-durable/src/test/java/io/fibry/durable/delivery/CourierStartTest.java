package io.fibry.durable.delivery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.durable.Durable;
import io.fibry.durable.kind.DefaultDurableBuilder;
import io.fibry.pool.Entities;
import io.fibry.store.MemoryStore;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the couriers of messages that wait at a store when it is opened. */
class CourierStartTest {
  record Add(String item) implements Request<Add, String> {}

  private static final int ACTORS = 300; // more than couriers that read at the same time
  private static final int MAX_READS = 64;
  private static final Duration IDLE = Duration.ofDays(1);
  private static final Durable.Builder<Add> KIND = Durable.kind("list", Add.class);

  private final ActorScope scope = ActorSystem.openScope("courier-start-test");
  private final StoreBackend memory = StoreBackend.of(MemoryStore.open());
  private final Semaphore mayRead = new Semaphore(0);
  private final AtomicInteger reads = new AtomicInteger();
  private final StoreBackend store = Intercepted.of(StoreBackend.class, memory, (method, arguments, call) -> {
    if (method.getName().equals("pending") && arguments.length == 3) {
      reads.incrementAndGet();
      mayRead.acquireUninterruptibly();
    }
    return call.pass();
  });
  private final Map<String, List<String>> handled = new ConcurrentHashMap<>(); // items by key

  @AfterEach
  void close() {
    releaseReads();
    scope.close();
    store.close();
  }

  private void releaseReads() {
    mayRead.release(1_000_000);
  }

  /** Stores two messages for each actor, opens the entities, and waits until couriers read. */
  private Entities<String, Add> openWithWaitingMessages() {
    for (int i = 0; i < ACTORS; i++) for (var item : List.of("a", "b")) storeMessage("k" + i, item);
    var lists = open();
    Patience.eventually(() -> reads.get() == MAX_READS);
    return lists;
  }

  private Entities<String, Add> open() {
    return KIND.storeMessages(9).state("").handler((items, add, context) -> {
      handled.computeIfAbsent(context.self().name(), key -> new CopyOnWriteArrayList<>()).add(add.item());
      context.reply(add, items + add.item());
      return items + add.item();
    }).entities(scope.anonymous(), store, IDLE);
  }

  private void storeMessage(String key, String item) {
    var kind = (DefaultDurableBuilder<Add>) KIND;
    var message = kind.toPendingMessage(key, new Add(item), Instant.now(), "");
    Patience.value(memory.enqueue(message, 9).toCompletableFuture());
  }

  @Test
  void messagesAndRequestsWaitForCouriersThatHaveNotStarted() {
    var lists = openWithWaitingMessages();
    var answers = new ArrayList<CompletableFuture<String>>();
    for (int i = 0; i < ACTORS; i++) {
      assertTrue(lists.actor("k" + i).sendMessage(new Add("c")));
      answers.add(lists.actor("k" + i).sendMessageReturn(new Add("d")));
    }

    releaseReads();

    for (var answer : answers) assertEquals("abcd", Patience.value(answer));
    assertEquals(ACTORS, handled.size());
    for (var items : handled.values()) assertEquals(List.of("a", "b", "c", "d"), items);
  }

  @Test
  void closedEntitiesStartNoMoreCouriers() {
    var lists = openWithWaitingMessages();

    lists.kill();
    Patience.awaitEnd(lists::waitForExit);
    releaseReads();

    var reopened = open(); // lists the messages, and delivers them
    Patience.eventually(() -> handled.size() == ACTORS
        && handled.values().stream().allMatch(items -> items.equals(List.of("a", "b"))));
    reopened.close();
  }

  @Test
  void closedStoreEndsCouriersThatHaveNotStarted() {
    var lists = openWithWaitingMessages();
    var answer = lists.actor("k" + (ACTORS - 1)).sendMessageReturn(new Add("c"));

    memory.close();
    releaseReads();

    Patience.failure(answer);
    lists.close();
    assertTrue(handled.isEmpty(), handled::toString);
  }
}
