package io.fibry.durable;

class SkewInMemoryTest extends SkewContract {
  SkewInMemoryTest() {
    super((folder, clock) -> TestStores.inMemory(clock));
  }
}
