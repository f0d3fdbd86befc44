package io.fibry.durable;

import io.fibry.store.MemoryStore;
import io.fibry.store.Store;
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
      public Store open() {
        return MemoryStore.open(clock);
      }

      @Override
      public Store crash(Store oldStore) {
        return ((MemoryStore) oldStore).crash();
      }
    };
  }

  /** Opens a store on the data of the test. */
  Store open();

  /**
   * Simulates a crash, and returns a new store with the content that survived. The old store cannot
   * be used any more.
   */
  Store crash(Store oldStore) throws IOException;

  @Override
  default void close() {}
}
