package io.fibry.cluster;

import io.fibry.nats.NatsNetwork;
import io.fibry.nats.Servers;

class TellsOverNatsTest extends TellsContract {
  TellsOverNatsTest() {
    super(Servers.app(), NatsNetwork.at(Servers.shared().url()));
  }
}
