package io.fibry.cluster;

import io.fibry.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Simulates requests by name, whose senders also yield between two accesses to shared data. */
@Tag("yield-points")
class YieldPointDirectRouteTest {

  @Test
  void messagesAndRequestsOfSenderKeepTheirOrder() {
    Seeds.playWithYieldPoints("order of requests by name", 600,
        simulation -> new NamedRequestsRound(simulation).playOrder());
  }

  @Test
  void noRequestArrivesAfterOfferWasClosed() {
    Seeds.playWithYieldPoints("withdrawal of a name", 6_000,
        simulation -> new NamedRequestsRound(simulation).playWithdrawal());
  }
}
