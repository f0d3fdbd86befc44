package io.fibry.cluster;

class DroppedEntryInMemoryTest extends DroppedEntryContract {
  DroppedEntryInMemoryTest() {
    super("bank", TestNetwork.inMemory());
  }
}
