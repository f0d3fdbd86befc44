package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.durable.Bank.Deposit;
import io.fibry.durable.Bank.Withdraw;
import io.fibry.store.MemoryStore;
import io.fibry.store.Store;
import io.fibry.support.Intercepted;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import org.junit.jupiter.api.Test;

/** A store hears of the end of each actor, so that it can forget that the actor lives. */
class LifeEndTest {
  private static final Store.ActorId ADA = new Store.ActorId("account", "ada");

  /** A store in memory, and the lives of its actors. */
  private static final class Watched {
    private final MemoryStore kept = MemoryStore.open();
    private final Map<Object, SortedSet<Long>> begun = new ConcurrentHashMap<>();
    private final Map<Object, SortedSet<Long>> left = new ConcurrentHashMap<>();
    private final Store store = Intercepted.of(Store.class, kept, (method, given, call) -> {
      if (method.getName().equals("endLife")) note(left, given[0], (long) given[1]);
      Object answer = call.pass();
      if (answer instanceof Store.LoadedActor loaded) note(begun, given[0], loaded.life());
      if (method.getName().equals("beginLife")) note(begun, given[0], (long) answer);
      return answer;
    });

    private static void note(Map<Object, SortedSet<Long>> lives, Object actor, long life) {
      lives.computeIfAbsent(actor, none -> new ConcurrentSkipListSet<>()).add(life);
    }
  }

  private final Watched home = new Watched();

  private static Store.Turn turn(Store.ActorId id, long life, String body) {
    return new Store.Turn(id, life, 1, Instant.EPOCH, true, body.getBytes(), List.of(), List.of());
  }

  @Test
  void endedActorEndsItsLife() {
    for (int i = 0; i < 2; i++) {
      var ada = Bank.ACCOUNT.newActor(ActorSystem.named("ada"), home.store);
      ada.sendMessage(new Deposit(500));
      assertEquals(true, ada.ask(new Withdraw(500)));
      ada.close();
    }

    assertEquals(new TreeSet<>(List.of(1L, 2L)), home.begun.get(ADA));
    assertEquals(home.begun, home.left);
  }

  @Test
  void unreadableActorEndsItsLife() {
    home.kept.append(turn(ADA, home.kept.load(ADA).life(), "no turn"));

    try (var ada = Bank.ACCOUNT.newActor(ActorSystem.named("ada"), home.store)) {
      assertThrows(RuntimeException.class, () -> ada.ask(new Withdraw(1)));
    }

    assertEquals(home.begun, home.left);
    assertEquals(new TreeSet<>(List.of(2L)), home.left.get(ADA));
  }

  @Test
  void copiedActorEndsItsLife() {
    var view = new Store.ActorId(Store.VIEWS, "account:totals");
    var grace = new Store.ActorId("account", "grace"); // a message waits for her
    for (var id : List.of(ADA, view)) home.kept.append(turn(id, home.kept.load(id).life(), "0"));
    home.kept.enqueue(new Store.PendingMessage(grace, "m:1", Instant.EPOCH, new byte[0]), 1);
    var other = new Watched();

    home.store.copyTo(other.store);

    assertEquals(home.begun, home.left);
    for (var id : List.of(ADA, view, grace, new Store.ActorId(":copy", "copy")))
      assertTrue(other.left.get(id).contains(other.begun.get(id).last()), id + " has begun " + other.begun.get(id));
  }
}
