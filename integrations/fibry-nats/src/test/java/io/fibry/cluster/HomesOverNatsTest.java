package io.fibry.cluster;

import io.fibry.nats.Servers;

class HomesOverNatsTest extends HomesContract {
  HomesOverNatsTest() {
    super(Servers.app(), new TestNetwork(Servers.network()));
  }
}
