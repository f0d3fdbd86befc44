package io.fibry.cluster;

class DurableHomesInMemoryTest extends DurableHomesContract {
  DurableHomesInMemoryTest() {
    super("bank", TestNetwork.inMemory());
  }
}
