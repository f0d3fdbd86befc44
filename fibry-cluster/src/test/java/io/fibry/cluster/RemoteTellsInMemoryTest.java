package io.fibry.cluster;

class RemoteTellsInMemoryTest extends RemoteTellsContract {
  RemoteTellsInMemoryTest() {
    super("bank", TestNetwork.inMemory());
  }
}
