package io.fibry.cluster;

import io.fibry.nats.Servers;

class DroppedEntryOverNatsTest extends DroppedEntryContract {
  DroppedEntryOverNatsTest() {
    super(Servers.app(), new TestNetwork(Servers.network()));
  }
}
