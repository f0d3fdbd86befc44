package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.durable.Bank.Deposit;
import io.fibry.durable.Bank.Withdraw;
import io.fibry.store.MemoryStore;
import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Intercepted;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import org.junit.jupiter.api.Test;

/** Tests that a store is notified of the end of each life, so that it can forget this life. */
class LifeEndTest {
  private static final Store.ActorId ADA = new Store.ActorId("account", "ada");

  /** A store in memory that records the beginnings and ends of lives. */
  private static final class RecordingStore {
    private final StoreBackend memory = StoreBackend.of(MemoryStore.open());
    private final Map<Object, SortedSet<Long>> begunLives = new ConcurrentHashMap<>();
    private final Map<Object, SortedSet<Long>> endedLives = new ConcurrentHashMap<>();
    private final Store store = Intercepted.of(StoreBackend.class, memory, (method, arguments, call) -> {
      if (method.getName().equals("endLife")) addLife(endedLives, arguments[0], (long) arguments[1]);
      Object answer = call.pass();
      if (answer instanceof StoreBackend.LoadedActor loaded) addLife(begunLives, arguments[0], loaded.life());
      if (method.getName().equals("beginLife")) addLife(begunLives, arguments[0], (long) answer);
      return answer;
    });

    private static void addLife(Map<Object, SortedSet<Long>> lives, Object actor, long life) {
      lives.computeIfAbsent(actor, k -> new ConcurrentSkipListSet<>()).add(life);
    }
  }

  private final RecordingStore recorder = new RecordingStore();

  private static StoreBackend.Turn turn(Store.ActorId id, long life, String body) {
    return new StoreBackend.Turn(id, life, 1, Instant.EPOCH, true, body.getBytes(), List.of(), List.of());
  }

  @Test
  void closedActorEndsItsLifeInStore() {
    for (int i = 0; i < 2; i++) {
      var ada = Bank.ACCOUNT.newActor(ActorSystem.named("ada"), recorder.store);
      ada.sendMessage(new Deposit(500));
      assertEquals(true, ada.ask(new Withdraw(500)));
      ada.close();
    }

    assertEquals(new TreeSet<>(List.of(1L, 2L)), recorder.begunLives.get(ADA));
    assertEquals(recorder.begunLives, recorder.endedLives);
  }

  @Test
  void failedLoadOfActorEndsItsLifeInStore() {
    recorder.memory.append(turn(ADA, recorder.memory.load(ADA).life(), "no turn"));

    try (var ada = Bank.ACCOUNT.newActor(ActorSystem.named("ada"), recorder.store)) {
      assertThrows(RuntimeException.class, () -> ada.ask(new Withdraw(1)));
    }

    assertEquals(recorder.begunLives, recorder.endedLives);
    assertEquals(new TreeSet<>(List.of(2L)), recorder.endedLives.get(ADA));
  }

  @Test
  void storeCopyEndsEachLifeThatItBegins() {
    var view = new Store.ActorId(StoreBackend.VIEWS, "account:totals");
    var grace = new Store.ActorId("account", "grace"); // has a pending message, and no turn
    for (var id : List.of(ADA, view)) recorder.memory.append(turn(id, recorder.memory.load(id).life(), "0"));
    recorder.memory.enqueue(new StoreBackend.PendingMessage(grace, "m:1", Instant.EPOCH, new byte[0]), 1);
    var target = new RecordingStore();

    recorder.store.copyTo(target.store);

    assertEquals(recorder.begunLives, recorder.endedLives);
    for (var id : List.of(ADA, view, grace, new Store.ActorId(":copy", "copy")))
      assertTrue(target.endedLives.get(id).contains(target.begunLives.get(id).last()),
          id + " began the lives " + target.begunLives.get(id));
  }
}
