package io.fibry.durable;

class ClockSkewInMemoryTest extends ClockSkewContract {
  ClockSkewInMemoryTest() {
    super((folder, clock) -> TestStores.inMemory(clock));
  }
}
