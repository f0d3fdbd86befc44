package io.fibry.cluster;

import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.nats.Servers;

class TransportOverNatsTest extends TransportContract {
  private String app; // set at the first use, in the constructor of the contract

  @Override
  ClusterTransport newTransport() {
    if (app == null) app = Servers.app();
    return Servers.network().connect(app, "test");
  }
}
