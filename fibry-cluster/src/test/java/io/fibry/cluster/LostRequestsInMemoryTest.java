package io.fibry.cluster;

class LostRequestsInMemoryTest extends LostRequestsContract {
  LostRequestsInMemoryTest() {
    super("lost", TestNetwork.inMemory());
  }
}
