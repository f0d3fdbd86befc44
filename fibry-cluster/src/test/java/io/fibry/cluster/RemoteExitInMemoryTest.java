package io.fibry.cluster;

class RemoteExitInMemoryTest extends RemoteExitContract {
  RemoteExitInMemoryTest() {
    super("bank", TestNetwork.inMemory());
  }
}
