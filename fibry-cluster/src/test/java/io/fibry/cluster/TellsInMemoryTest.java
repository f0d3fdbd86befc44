package io.fibry.cluster;

class TellsInMemoryTest extends TellsContract {
  TellsInMemoryTest() {
    super("bank", TestNetwork.inMemory());
  }
}
