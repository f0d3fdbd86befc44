package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.durable.Desk.Items;
import io.fibry.durable.Desk.Remind;
import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Intercepted;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class RemindersAndStepsInMemoryTest extends RemindersAndStepsContract {
  RemindersAndStepsInMemoryTest() {
    super((folder, clock) -> TestStores.inMemory(clock));
  }

  @Test
  void reminderThatBecomesDueDuringDeliveryIsDelivered() {
    var plainStore = store;
    store = storeWhoseClockJumps(Duration.ofHours(1));
    var ada = ada();
    ada.sendMessage(new Remind("r", "a", Duration.ofMinutes(1), false));
    ada.sendMessage(new Remind("s", "b", Duration.ofMinutes(30), false));
    ada.ask(new Items());

    clock.advance(Duration.ofMinutes(1));

    // the test polls the store, because an ask would reach its limit when the clock jumps
    eventually(() -> plainStore.pending(new Store.ActorId("desk", "ada"), Instant.MAX, 9).isEmpty());
    assertEquals("a b", ada.ask(new Items()));
  }

  /** Returns a store that advances the clock once, before it reports that no message is due. */
  private StoreBackend storeWhoseClockJumps(Duration jump) {
    var hasJumped = new AtomicBoolean();
    return Intercepted.of(StoreBackend.class, store, (method, arguments, call) -> {
      var answer = call.pass();
      if (List.of().equals(answer) && method.getName().equals("pending") && hasJumped.compareAndSet(false, true))
        clock.advance(jump);
      return answer;
    });
  }
}
