package io.fibry.durable.delivery;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.durable.Durable;
import io.fibry.durable.SharedStoreAccess;
import io.fibry.durable.kind.DefaultDurableBuilder;
import io.fibry.pool.Entities;
import io.fibry.store.MemoryStore;
import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests couriers that wait until their actor has handled a batch of messages. */
class ParkedCourierTest {
  record Add(String item) implements Request<Add, String> {}

  private static final Store.ActorId ADA = new Store.ActorId("list", "ada");
  private static final Duration IDLE = Duration.ofDays(1);
  private static final int MANY = 200; // messages: more than three batches
  private static final Durable.Builder<Add> KIND = Durable.kind("list", Add.class);

  private final ActorScope scope = ActorSystem.openScope("parked-courier-test");
  private final StoreBackend memory = StoreBackend.of(MemoryStore.open());
  private final Set<Thread> couriers = ConcurrentHashMap.newKeySet(); // the threads that have read pending messages
  private final StoreBackend store = Intercepted.of(StoreBackend.class, memory, (method, arguments, call) -> {
    if (method.getName().equals("pending") && arguments.length == 3) couriers.add(Thread.currentThread());
    return call.pass();
  });
  private final List<String> handled = new CopyOnWriteArrayList<>();
  private final Semaphore begun = new Semaphore(0); // handlers that have begun
  private final Semaphore mayEnd = new Semaphore(0);

  @AfterEach
  void close() {
    mayEnd.release(MANY);
    scope.close();
    store.close();
  }

  private Entities<String, Add> open() {
    return KIND.storeMessages(MANY).state("").handler((items, add, context) -> {
      begun.release();
      mayEnd.acquire();
      handled.add(add.item());
      context.reply(add, items + add.item());
      return items + add.item();
    }).entities(scope.anonymous(), store, IDLE);
  }

  private void storeMessage(String item) {
    var message = ((DefaultDurableBuilder<Add>) KIND).toPendingMessage(ADA.key(), new Add(item), Instant.now(), "");
    Patience.value(memory.enqueue(message, MANY).toCompletableFuture());
  }

  @Test
  void courierHasNoThreadWhileHandlerWaits() {
    storeMessage("a");
    open();
    Patience.acquire(begun);

    couriers.forEach(Patience::awaitEnd);

    assertEquals(1, couriers.size());
    assertEquals(List.of(), handled);
  }

  @Test
  void parkedCourierDeliversMessagesThatCameMeanwhile() {
    storeMessage("a");
    var lists = open();
    Patience.acquire(begun);
    couriers.forEach(Patience::awaitEnd);
    storeMessage("b"); // by another program
    SharedStoreAccess.deliverPending(store, ADA);
    lists.actor(ADA.key()).sendMessage(new Add("c"));

    mayEnd.release(MANY);

    Patience.eventually(() -> handled.size() == 3);
    assertEquals(List.of("a", "b", "c"), handled.stream().sorted().toList());
    Patience.eventually(() -> memory.pending(ADA, Instant.now(), MANY).isEmpty());
  }

  @Test
  void courierDeliversAllBatchesInOrder() {
    for (int i = 0; i < MANY; i++) storeMessage("" + i);
    open();

    mayEnd.release(MANY);

    Patience.eventually(() -> handled.size() == MANY);
    for (int i = 0; i < MANY; i++) assertEquals("" + i, handled.get(i));
  }

  @Test
  void closedEntitiesLeaveParkedMessageToNextEntities() {
    storeMessage("a");
    var lists = open();
    Patience.acquire(begun);
    couriers.forEach(Patience::awaitEnd);

    lists.kill();
    Patience.awaitEnd(lists::waitForExit);
    open();

    mayEnd.release(MANY);
    Patience.eventually(() -> handled.equals(List.of("a")));
  }
}
