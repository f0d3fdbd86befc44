package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.store.MemoryStore;
import io.fibry.store.Store;
import io.fibry.store.StoreReadException;
import io.fibry.time.ManualClock;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Requests that wait since a courier looks at what waits for their actor. */
@Timeout(60)
class CourierTest {
  private static final int MANY = 1_000;
  private static final Durable.Kind<String> KIND = Durable.kind("list", String.class);

  private final ManualClock clock = new ManualClock();
  private final ActorScope scope = ActorSystem.openScope("courier-test", options -> options.withScheduler(clock));
  private final MemoryStore memory = MemoryStore.open(() -> Instant.EPOCH.plusNanos(clock.nanoTime()));
  private final Semaphore begun = new Semaphore(0); // looks
  private final Semaphore mayLook = new Semaphore(0);
  private final Semaphore over = new Semaphore(0); // couriers
  private volatile boolean fails;
  private final Store store = (Store) Proxy.newProxyInstance(Store.class.getClassLoader(), new Class<?>[] {Store.class},
      (proxy, method, given) -> {
        if (method.getName().equals("equals")) return proxy == given[0];
        if (method.getName().equals("waiting") && given.length == 3) look();
        if (method.getName().equals("next")) over.release();
        try {
          return method.invoke(memory, given);
        } catch (InvocationTargetException thrown) {
          throw thrown.getCause();
        }
      });

  @AfterEach
  void close() {
    mayLook.release(MANY);
    scope.close();
  }

  private void look() {
    begun.release();
    mayLook.acquireUninterruptibly();
    if (fails) throw new StoreReadException("made up, for a test", null);
  }

  /** The courier before may wait for room in the mailbox when the next one looks. */
  @Test
  void theyKeepTheirOrderThoughTheCourierBeforeStillLetsThemGo() {
    var gone = new CopyOnWriteArrayList<String>();
    var room = new CountDownLatch(1);
    try (var delivery = new Delivery(store, (Kinds<String>) KIND, clock, key -> true)) {
      delivery.start(none -> null); // nothing waits for it
      delivery.told("ada", Instant.MIN);
      begun.acquireUninterruptibly();
      order(delivery).thenRun(() -> await(room)).thenRun(() -> gone.add("first"));
      order(delivery).thenRun(() -> gone.add("second"));
      fails = true;
      mayLook.release();
      eventuallyLooksAgain();
      order(delivery).thenRun(() -> gone.add("third"));

      fails = false;
      mayLook.release();
      over.acquireUninterruptibly();
      room.countDown();

      while (gone.size() < 3) Thread.onSpinWait();
      assertEquals(List.of("first", "second", "third"), gone);
    }
  }

  private CompletableFuture<Void> order(Delivery delivery) {
    return delivery.order("ada");
  }

  private void eventuallyLooksAgain() {
    while (!begun.tryAcquire()) clock.advance(Duration.ofSeconds(1));
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException interrupt) {
      throw new AssertionError(interrupt);
    }
  }
}
