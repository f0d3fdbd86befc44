package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import io.fibry.store.StoreReadException;
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
public final class Turning {
  public static final Store.ActorId ADA = new Store.ActorId("account", "ada");
  public static final Store.ActorId GRACE = new Store.ActorId("account", "grace");

  private Turning() {}

  public static Store.Turn turn(Store.ActorId id, long life, long number) {
    return turn(id, life, number, false, (byte) number);
  }

  public static Store.Turn turn(Store.ActorId id, long life, long number, boolean whole, byte... body) {
    return new Store.Turn(id, life, number, Instant.now(), whole, body, List.of(), List.of());
  }

  public static void append(Store store, Store.Turn turn) {
    store.append(turn).toCompletableFuture().join();
  }

  /** What a turn or message was refused by. */
  public static Throwable refusal(CompletionStage<?> given) {
    try {
      throw new AssertionError("it is " + given.toCompletableFuture().get());
    } catch (ExecutionException failed) {
      return failed.getCause();
    } catch (InterruptedException interrupt) {
      throw new AssertionError(interrupt);
    }
  }

  /** Three stores that each want the same actor for themselves. */
  public static void fight(Supplier<Store> stores) {
    Map<Long, Byte> told = new ConcurrentHashMap<>(); // which store has stored a turn
    var fighters = new ArrayList<Thread>();
    var failures = new CopyOnWriteArrayList<Throwable>();
    for (byte i = 0; i < 3; i++) {
      byte who = i;
      var store = stores.get();
      fighters.add(Thread.ofVirtual().uncaughtExceptionHandler((thread, failure) -> failures.add(failure))
          .start(() -> fight(store, who, told)));
    }
    fighters.forEach(Patience::joined);

    assertEquals(List.of(), failures);
    var read = stores.get().load(ADA);
    assertTrue(read.lastTurn() > 0);
    assertEquals(LongStream.rangeClosed(1, read.lastTurn()).boxed().toList(), told.keySet().stream().sorted().toList());
    for (int i = 0; i < read.lastTurn(); i++) assertEquals(told.get(i + 1L), read.bodies().get(i)[0]);
  }

  private static void fight(Store store, byte who, Map<Long, Byte> told) {
    for (int round = 0; round < 20; round++) try {
      var read = store.load(ADA);
      for (long number = read.lastTurn() + 1; number < read.lastTurn() + 10; number++) {
        append(store, turn(ADA, read.life(), number, false, who));
        told.merge(number, who, (one, two) -> {
          throw new AssertionError("both " + one + " and " + two + " have stored a turn");
        });
      }
    } catch (CompletionException | StoreReadException lost) {
      // against another one
    }
  }
}
