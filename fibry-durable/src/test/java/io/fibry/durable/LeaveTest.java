package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.ActorSystem;
import io.fibry.durable.Bank.Deposit;
import io.fibry.durable.Bank.Withdraw;
import io.fibry.store.MemoryStore;
import io.fibry.store.Store;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A store hears of the end of each actor, so that it need not remember it as one that is there. */
@Timeout(60)
class LeaveTest {
  private final MemoryStore kept = MemoryStore.open();
  private final Set<Long> begun = new ConcurrentSkipListSet<>();
  private final Set<Long> left = new ConcurrentSkipListSet<>();
  private final Store store = (Store) Proxy.newProxyInstance(Store.class.getClassLoader(), new Class<?>[] {Store.class},
      (proxy, method, given) -> {
        if (method.getName().equals("leave")) left.add((long) given[1]);
        try {
          Object answer = method.invoke(kept, given);
          if (answer instanceof Store.Loaded loaded) begun.add(loaded.life());
          return answer;
        } catch (InvocationTargetException failure) {
          throw failure.getCause();
        }
      });

  @Test
  void anActorThatEndsIsLeft() {
    for (int i = 0; i < 2; i++) {
      var ada = Bank.ACCOUNT.newActor(ActorSystem.named("ada"), store);
      ada.sendMessage(new Deposit(500));
      assertEquals(true, ada.ask(new Withdraw(500)));
      ada.close();
    }

    assertEquals(new TreeSet<>(List.of(1L, 2L)), begun);
    assertEquals(begun, left);
  }

  @Test
  void anActorThatCannotBeReadIsLeft() {
    var id = new Store.Id("account", "ada");
    long life = kept.load(id).life();
    kept.append(new Store.Turn(id, life, 1, Instant.EPOCH, false, new byte[] {1, 2, 3}, List.of(), List.of()));

    try (var ada = Bank.ACCOUNT.newActor(ActorSystem.named("ada"), store)) {
      assertThrows(RuntimeException.class, () -> ada.ask(new Withdraw(1)));
    }

    assertEquals(begun, left);
    assertEquals(Set.of(2L), left);
  }
}
