package io.fibry.cluster;

class RingInMemoryTest extends RingContract {
  RingInMemoryTest() {
    super("bank", TestNetwork.inMemory());
  }
}
