package io.fibry.durable;

class UpgradeInMemoryTest extends UpgradeContract {
  UpgradeInMemoryTest() {
    super((folder, clock) -> TestStores.inMemory(clock));
  }
}
