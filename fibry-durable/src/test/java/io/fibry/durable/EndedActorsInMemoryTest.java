package io.fibry.durable;

class EndedActorsInMemoryTest extends EndedActorsContract {
  EndedActorsInMemoryTest() {
    super((folder, clock) -> TestStores.inMemory(clock));
  }
}
