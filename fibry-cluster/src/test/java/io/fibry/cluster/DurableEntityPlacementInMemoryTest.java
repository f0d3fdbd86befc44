package io.fibry.cluster;

class DurableEntityPlacementInMemoryTest extends DurableEntityPlacementContract {
  DurableEntityPlacementInMemoryTest() {
    super("bank", TestNetwork.inMemory());
  }
}
