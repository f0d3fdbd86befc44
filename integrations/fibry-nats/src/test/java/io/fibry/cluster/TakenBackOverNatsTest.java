package io.fibry.cluster;

import io.fibry.nats.Servers;

class TakenBackOverNatsTest extends TakenBackContract {
  TakenBackOverNatsTest() {
    super(Servers.app(), new TestNetwork(Servers.network()));
  }
}
