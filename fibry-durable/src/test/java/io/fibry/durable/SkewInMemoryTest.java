package io.fibry.durable;

class SkewInMemoryTest extends ClockSkewContract {
  SkewInMemoryTest() {
    super((folder, clock) -> TestStores.inMemory(clock));
  }
}
