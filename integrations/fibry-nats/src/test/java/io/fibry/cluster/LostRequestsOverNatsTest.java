package io.fibry.cluster;

import io.fibry.nats.Servers;

class LostRequestsOverNatsTest extends LostRequestsContract {
  LostRequestsOverNatsTest() {
    super(Servers.app(), new TestNetwork(Servers.network()));
  }
}
