package io.fibry.cluster;

import io.fibry.nats.Servers;

class AbsenceOverNatsTest extends AbsenceContract {
  AbsenceOverNatsTest() {
    super(Servers.app(), new TestNetwork(Servers.network()));
  }
}
