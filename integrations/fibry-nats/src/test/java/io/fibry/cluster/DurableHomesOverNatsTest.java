package io.fibry.cluster;

import io.fibry.nats.Servers;

class DurableHomesOverNatsTest extends DurableHomesContract {
  DurableHomesOverNatsTest() {
    super(Servers.app(), new TestNetwork(Servers.network()));
  }
}
