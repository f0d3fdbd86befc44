package io.fibry.cluster;

class NodeWaitCycleInMemoryTest extends NodeWaitCycleContract {
  NodeWaitCycleInMemoryTest() {
    super("bank", TestNetwork.inMemory());
  }
}
