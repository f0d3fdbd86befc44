package io.fibry.cluster;

import io.fibry.nats.Servers;

class TopicOverNatsTest extends TopicContract {
  TopicOverNatsTest() {
    super(Servers.app(), new TestNetwork(Servers.network()));
  }
}
