package io.fibry.durable;

class OutboxAndOnceInMemoryTest extends OutboxAndOnceContract {
  OutboxAndOnceInMemoryTest() {
    super((folder, clock) -> TestStores.inMemory(clock));
  }
}
