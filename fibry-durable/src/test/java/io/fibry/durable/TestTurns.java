package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import io.fibry.store.StoreReadException;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Patience;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import java.util.stream.LongStream;

/** Turns for tests of stores. */
public final class TestTurns {
  public static final Store.ActorId ADA = new Store.ActorId("account", "ada");
  public static final Store.ActorId GRACE = new Store.ActorId("account", "grace");

  private TestTurns() {}

  public static StoreBackend.Turn turn(Store.ActorId id, long life, long number) {
    return turn(id, life, number, false, (byte) number);
  }

  public static StoreBackend.Turn turn(Store.ActorId id, long life, long number, boolean isFullState, byte... body) {
    return new StoreBackend.Turn(id, life, number, Instant.now(), isFullState, body, List.of(), List.of());
  }

  public static void append(StoreBackend store, StoreBackend.Turn turn) {
    store.append(turn).toCompletableFuture().join();
  }

  /** Returns the exception by which a turn or message was refused. */
  public static Throwable refusal(CompletionStage<?> response) {
    try {
      throw new AssertionError("it was accepted with " + response.toCompletableFuture().get());
    } catch (ExecutionException failure) {
      return failure.getCause();
    } catch (InterruptedException interrupt) {
      throw new AssertionError(interrupt);
    }
  }

  /** Lets three stores compete for one actor. Exactly one store must store each turn number. */
  public static void compete(Supplier<StoreBackend> stores) {
    Map<Long, Byte> writers = new ConcurrentHashMap<>(); // store number by turn number
    var threads = new ArrayList<Thread>();
    var failures = new CopyOnWriteArrayList<Throwable>();
    for (byte i = 0; i < 3; i++) {
      byte storeNumber = i;
      var store = stores.get();
      threads.add(Thread.ofVirtual().uncaughtExceptionHandler((thread, failure) -> failures.add(failure))
          .start(() -> compete(store, storeNumber, writers)));
    }
    threads.forEach(Patience::awaitEnd);

    assertEquals(List.of(), failures);
    var loaded = stores.get().load(ADA);
    assertTrue(loaded.lastTurn() > 0);
    assertEquals(LongStream.rangeClosed(1, loaded.lastTurn()).boxed().toList(),
        writers.keySet().stream().sorted().toList());
    for (int i = 0; i < loaded.lastTurn(); i++) assertEquals(writers.get(i + 1L), loaded.bodies().get(i)[0]);
  }

  private static void compete(StoreBackend store, byte storeNumber, Map<Long, Byte> writers) {
    for (int round = 0; round < 20; round++) try {
      var loaded = store.load(ADA);
      for (long number = loaded.lastTurn() + 1; number < loaded.lastTurn() + 10; number++) {
        append(store, turn(ADA, loaded.life(), number, false, storeNumber));
        writers.merge(number, storeNumber, (first, second) -> {
          throw new AssertionError("both " + first + " and " + second + " have stored a turn");
        });
      }
    } catch (CompletionException | StoreReadException failure) {
      // another store has begun a life of the actor
    }
  }
}
