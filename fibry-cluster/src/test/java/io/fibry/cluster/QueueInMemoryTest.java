package io.fibry.cluster;

class QueueInMemoryTest extends QueueContract {
  QueueInMemoryTest() {
    super("bank", TestNetwork.inMemory());
  }
}
