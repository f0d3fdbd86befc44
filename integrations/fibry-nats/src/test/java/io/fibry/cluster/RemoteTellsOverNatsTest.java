package io.fibry.cluster;

import io.fibry.nats.Servers;

class RemoteTellsOverNatsTest extends RemoteTellsContract {
  RemoteTellsOverNatsTest() {
    super(Servers.app(), new TestNetwork(Servers.network()));
  }
}
