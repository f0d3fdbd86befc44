package io.fibry.durable;

class MoveInMemoryTest extends MoveContract {
  MoveInMemoryTest() {
    super((folder, clock) -> TestStores.inMemory(clock));
  }
}
