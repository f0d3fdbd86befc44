package io.fibry.durable;

class StoreCopyInMemoryTest extends StoreCopyContract {
  StoreCopyInMemoryTest() {
    super((folder, clock) -> TestStores.inMemory(clock));
  }
}
