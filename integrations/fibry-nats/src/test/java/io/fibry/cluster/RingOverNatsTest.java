package io.fibry.cluster;

import io.fibry.nats.Servers;

class RingOverNatsTest extends RingContract {
  RingOverNatsTest() {
    super(Servers.app(), new TestNetwork(Servers.network()));
  }
}
