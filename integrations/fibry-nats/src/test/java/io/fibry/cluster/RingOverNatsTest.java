package io.fibry.cluster;

import io.fibry.nats.NatsNetwork;
import io.fibry.nats.Servers;

class RingOverNatsTest extends RingContract {
  RingOverNatsTest() {
    super(Servers.app(), NatsNetwork.at(Servers.shared().url()));
  }
}
