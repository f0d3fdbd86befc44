package io.fibry.cluster;

import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.nats.Servers;

class EngineOverNatsTest extends EngineContract {
  private String app; // made by the first use, which is in the constructor of the contract

  @Override
  ClusterTransport engine() {
    if (app == null) app = Servers.app();
    return Servers.network().connect(app, "test");
  }
}
