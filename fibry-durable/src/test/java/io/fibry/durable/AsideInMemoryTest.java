package io.fibry.durable;

class AsideInMemoryTest extends AsideContract {
  AsideInMemoryTest() {
    super((folder, clock) -> TestStores.inMemory(clock));
  }
}
