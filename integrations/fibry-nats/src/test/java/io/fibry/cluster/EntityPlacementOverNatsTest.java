package io.fibry.cluster;

import io.fibry.nats.Servers;

class EntityPlacementOverNatsTest extends EntityPlacementContract {
  EntityPlacementOverNatsTest() {
    super(Servers.app(), new TestNetwork(Servers.network()));
  }
}
