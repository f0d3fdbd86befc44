package io.fibry.cluster;

class HomesInMemoryTest extends HomesContract {
  HomesInMemoryTest() {
    super("bank", TestNetwork.inMemory());
  }
}
