package io.fibry.durable;

class EndedInMemoryTest extends EndedContract {
  EndedInMemoryTest() {
    super((folder, clock) -> TestStores.inMemory(clock));
  }
}
