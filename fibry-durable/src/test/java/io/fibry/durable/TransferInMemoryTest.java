package io.fibry.durable;

import io.fibry.store.MemoryStore;
import io.fibry.store.Store;

class TransferInMemoryTest extends TransferContract {
  @Override
  Store open() {
    return MemoryStore.open(instants());
  }

  @Override
  Store crash(Store before) {
    return ((MemoryStore) before).crash();
  }
}
