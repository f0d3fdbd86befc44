package io.fibry.durable;

import io.fibry.store.MemoryStore;
import io.fibry.store.Store;
import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;

/** Where a test has its stores, of whatever kind. */
interface TestStores extends AutoCloseable {
  /** Used by the contracts, before each test. */
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
      public Store crash(Store before) {
        return ((MemoryStore) before).crash();
      }
    };
  }

  /** The first one. */
  Store open();

  /** Returns the content after a crash, as a new store; the store before is useless. */
  Store crash(Store before) throws IOException;

  @Override
  default void close() {}
}
