package io.fibry.cluster;

import io.fibry.nats.Servers;

class RemoteActorOverNatsTest extends RemoteActorContract {
  RemoteActorOverNatsTest() {
    super(Servers.app(), new TestNetwork(Servers.network()));
  }
}
