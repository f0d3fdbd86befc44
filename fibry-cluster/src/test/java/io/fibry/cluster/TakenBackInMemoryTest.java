package io.fibry.cluster;

class TakenBackInMemoryTest extends TakenBackContract {
  TakenBackInMemoryTest() {
    super("bank", TestNetwork.inMemory());
  }
}
