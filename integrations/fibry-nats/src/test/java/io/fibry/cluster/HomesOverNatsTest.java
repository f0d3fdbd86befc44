package io.fibry.cluster;

import io.fibry.nats.NatsNetwork;
import io.fibry.nats.Servers;

class HomesOverNatsTest extends HomesContract {
  HomesOverNatsTest() {
    super(Servers.app(), NatsNetwork.at(Servers.shared().url()));
  }
}
