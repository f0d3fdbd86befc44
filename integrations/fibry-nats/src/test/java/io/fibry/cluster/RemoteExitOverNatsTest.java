package io.fibry.cluster;

import io.fibry.nats.Servers;

class RemoteExitOverNatsTest extends RemoteExitContract {
  RemoteExitOverNatsTest() {
    super(Servers.app(), new TestNetwork(Servers.network()));
  }
}
