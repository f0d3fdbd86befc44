package io.fibry.cluster;

import io.fibry.nats.Servers;

class FarOverNatsTest extends FarContract {
  FarOverNatsTest() {
    super(Servers.app(), new TestNetwork(Servers.network()));
  }
}
