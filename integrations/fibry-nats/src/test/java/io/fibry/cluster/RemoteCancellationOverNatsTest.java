package io.fibry.cluster;

import io.fibry.nats.Servers;

class RemoteCancellationOverNatsTest extends RemoteCancellationContract {
  RemoteCancellationOverNatsTest() {
    super(Servers.app(), new TestNetwork(Servers.network()));
  }
}
