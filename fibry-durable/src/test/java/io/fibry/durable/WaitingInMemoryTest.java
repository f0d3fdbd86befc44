package io.fibry.durable;

class WaitingInMemoryTest extends WaitingContract {
  WaitingInMemoryTest() {
    super((folder, clock) -> TestStores.inMemory(clock));
  }
}
