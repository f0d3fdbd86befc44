package io.fibry.cluster;

class EntityPlacementInMemoryTest extends EntityPlacementContract {
  EntityPlacementInMemoryTest() {
    super("bank", TestNetwork.inMemory());
  }
}
