package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Request;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.cluster.wire.AskChainEntry;
import io.fibry.cluster.wire.Destination;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests that a cycle of waits names its actors, even if the names have special characters. */
class AskChainEntryTest {
  record Ping() implements Request<Ping, String> {}

  private static WireMessage askedBy(List<String> askers) {
    return WireMessage.oneWay("subject", Map.of(Destination.ASKERS, AskChainEntry.toHeader(askers)), new byte[0]);
  }

  @Test
  void cycleExceptionHasUnescapedActorNames() {
    var first = new AskChainEntry("a.1", "some/tab\tand \\t and \\");
    var second = new AskChainEntry("b.1", "other/\\\\t$1");
    var wire = askedBy(second.chainOf(askedBy(first.chainOf(askedBy(List.of("c.1 outside"))))));

    assertTrue(first.isWaitingFor(wire));
    assertEquals(List.of(first.actor(), second.actor(), first.actor()),
        first.cycleException(wire, new Ping()).cycle());
  }
}
