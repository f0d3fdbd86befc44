package io.fibry.cluster;

class TellsInMemoryTest extends TellsContract {
  TellsInMemoryTest() {
    super("bank", MemoryNetwork.create());
  }
}
