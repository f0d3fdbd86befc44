package io.fibry.cluster;

import io.fibry.nats.Servers;

class TellsOverNatsTest extends TellsContract {
  TellsOverNatsTest() {
    super(Servers.app(), new TestNetwork(Servers.network()));
  }
}
