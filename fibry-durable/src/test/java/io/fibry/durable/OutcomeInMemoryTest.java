package io.fibry.durable;

class OutcomeInMemoryTest extends OutcomeContract {
  OutcomeInMemoryTest() {
    super((folder, clock) -> TestStores.inMemory(clock));
  }

  @Override
  int requestsPerClient() {
    return 150;
  }
}
