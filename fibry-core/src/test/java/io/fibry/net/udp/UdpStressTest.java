package io.fibry.net.udp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.net.UdpServer;
import io.fibry.support.Patience;
import io.fibry.testing.StressRuns;
import io.fibry.testing.Variants;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * Tests random servers that end in random ways while random packets arrive. Each server must end,
 * and its counts must add up.
 */
class UdpStressTest {
  private final long seed = StressRuns.seed();

  @Test
  void serverOnAnyStrategyEndsWithConsistentCounts() {
    System.out.println("UdpStressTest -Dfibry.seed=" + seed);
    var random = new Random(seed);
    var strategies = new ArrayList<>(Variants.STRATEGIES.keySet());
    for (int round = 0; round < 40; round++) runRound(random, strategies.get(random.nextInt(strategies.size())));
  }

  private void runRound(Random random, String strategy) {
    String description = "seed " + seed + ", " + strategy;
    var handledCount = new AtomicLong();
    // the kill grace is long, because a packet is not counted if its handler is cut off
    try (ActorScope scope = ActorSystem.openScope("stress", o -> o.withKillGrace(Patience.LONG))) {
      int maxPacket = 1 + random.nextInt(2_000);
      var server = UdpServer.open(
          scope.anonymous().strategy(Variants.STRATEGIES.get(strategy)).onFailure(FailurePolicy.resume().withoutLog()),
          0,
          (self, packet) -> {
            handledCount.incrementAndGet();
            assertTrue(packet.data().length <= maxPacket
                && (!packet.isTruncated() || packet.data().length == maxPacket), description);
            if (packet.data().length > 0 && packet.data()[0] == 0) throw new IllegalStateException("a bad packet");
            self.reply(packet, packet.data());
          }, o -> o.withMaxPacket(maxPacket).withRate(1 + random.nextInt(200), Duration.ofSeconds(1)));

      var senderSeed = random.nextLong();
      var sender = Patience.startFiber(() -> {
        var senderRandom = new Random(senderSeed);
        try (var peer = new UdpPeer()) {
          for (int i = 0; i < 100; i++) {
            var data = new byte[senderRandom.nextInt(3_000)];
            senderRandom.nextBytes(data);
            peer.send(server.port(), data);
          }
        }
      });
      if (random.nextBoolean()) Patience.awaitEnd(sender);
      switch (random.nextInt(4)) {
        case 0 -> server.close();
        case 1 -> server.askExit();
        case 2 -> server.kill();
        default -> scope.closeWithin(Duration.ZERO);
      }
      Patience.awaitEnd(server::waitForExit);
      Patience.awaitEnd(sender);
      var report = scope.closeWithin(Patience.LONG);

      long unhandled = report.unhandled().values().stream().mapToLong(Long::longValue).sum();
      assertEquals(report.sent(), report.handled() + unhandled + report.queued(), description);
      assertTrue(handledCount.get() <= report.sent() && report.sent() <= 100, () -> description + ": " + report);
    }
  }
}
