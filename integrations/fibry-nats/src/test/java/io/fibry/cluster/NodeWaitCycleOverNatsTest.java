package io.fibry.cluster;

import io.fibry.nats.Servers;

class NodeWaitCycleOverNatsTest extends NodeWaitCycleContract {
  NodeWaitCycleOverNatsTest() {
    super(Servers.app(), new TestNetwork(Servers.network()));
  }
}
