package io.fibry.cluster;

class TakenBackInMemoryTest extends TakenBackContract {
  TakenBackInMemoryTest() {
    super("bank", MemoryNetwork.create());
  }
}
