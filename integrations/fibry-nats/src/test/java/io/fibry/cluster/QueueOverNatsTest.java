package io.fibry.cluster;

import io.fibry.nats.NatsNetwork;
import io.fibry.nats.Servers;

class QueueOverNatsTest extends QueueContract {
  QueueOverNatsTest() {
    super(Servers.app(), NatsNetwork.at(Servers.shared().url()));
  }
}
