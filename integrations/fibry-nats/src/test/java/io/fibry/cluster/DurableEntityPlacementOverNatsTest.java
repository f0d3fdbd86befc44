package io.fibry.cluster;

import io.fibry.nats.Servers;

class DurableEntityPlacementOverNatsTest extends DurableEntityPlacementContract {
  DurableEntityPlacementOverNatsTest() {
    super(Servers.app(), new TestNetwork(Servers.network()));
  }
}
