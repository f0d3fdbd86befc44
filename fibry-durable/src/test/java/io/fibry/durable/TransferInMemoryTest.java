package io.fibry.durable;

class TransferInMemoryTest extends TransferContract {
  TransferInMemoryTest() {
    super((folder, clock) -> TestStores.inMemory(clock));
  }
}
