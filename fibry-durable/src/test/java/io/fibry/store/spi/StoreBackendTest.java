package io.fibry.store.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrowsExactly;

import io.fibry.ActorSystem;
import io.fibry.durable.Durable;
import io.fibry.store.MemoryStore;
import io.fibry.store.Store;
import io.fibry.support.Intercepted;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Tests how actors and copies get the backend of a store. */
class StoreBackendTest {
  private static final Durable<String> KIND =
      Durable.kind("kind", String.class).state("").handler((state, message, context) -> message);

  private final Store store = MemoryStore.open();
  private final Store plainStore = Intercepted.of(Store.class, store, (method, arguments, call) -> call.pass());

  @Test
  void storeThatImplementsBackendIsItsOwnBackend() {
    assertSame(store, StoreBackend.of(store));
  }

  @Test
  void storeWithoutBackendIsRefused() {
    assertRefused(() -> KIND.newActor(ActorSystem.named("actor"), plainStore));
    assertRefused(() -> KIND.parked(plainStore));
    assertRefused(() -> store.copyTo(plainStore));
  }

  private void assertRefused(Executable code) {
    assertEquals(
        plainStore.getClass().getName()
            + " implements only Store, so no actor can be stored in it; let it implement StoreBackend",
        assertThrowsExactly(IllegalArgumentException.class, code).getMessage());
  }
}
