package io.fibry.cluster;

import io.fibry.nats.NatsNetwork;
import io.fibry.nats.Servers;

class TopicOverNatsTest extends TopicContract {
  TopicOverNatsTest() {
    super(Servers.app(), NatsNetwork.at(Servers.shared().url()));
  }
}
