package io.fibry.cluster;

class RemoteCancellationInMemoryTest extends RemoteCancellationContract {
  RemoteCancellationInMemoryTest() {
    super("bank", TestNetwork.inMemory());
  }
}
