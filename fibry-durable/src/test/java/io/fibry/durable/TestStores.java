package io.fibry.durable;

import io.fibry.store.MemoryStore;
import io.fibry.store.spi.StoreBackend;
import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;

/** Opens the stores of a test, and simulates their crashes. */
interface TestStores extends AutoCloseable {
  /** Creates the stores of a test. Called before each test. */
  interface Maker {
    TestStores make(Path folder, InstantSource clock) throws Exception;
  }

  static TestStores inMemory(InstantSource clock) {
    return new TestStores() {
      @Override
      public StoreBackend open() {
        return StoreBackend.of(MemoryStore.open(clock));
      }

      @Override
      public StoreBackend crash(StoreBackend oldStore) {
        return StoreBackend.of(((MemoryStore) oldStore).crash());
      }
    };
  }

  /** Opens a store on the data of the test. */
  StoreBackend open();

  /**
   * Simulates a crash, and returns a new store with the content that survived. The old store cannot
   * be used any more.
   */
  StoreBackend crash(StoreBackend oldStore) throws IOException;

  @Override
  default void close() {}
}
