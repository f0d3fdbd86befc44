package io.fibry.cluster;

import io.fibry.nats.Servers;

class ContextOverNatsTest extends ContextContract {
  ContextOverNatsTest() {
    super(Servers.app(), new TestNetwork(Servers.network()));
  }
}
