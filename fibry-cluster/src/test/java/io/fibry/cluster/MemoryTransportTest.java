package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MemoryTransportTest extends TransportContract {
  private static final List<Integer> NUMBERS = IntStream.range(0, 40).boxed().toList();

  private MemoryNetwork network; // created at the first use, in the constructor of the contract

  @Override
  ClusterTransport newTransport() {
    if (network == null) network = MemoryNetwork.create();
    return network.openTransport();
  }

  @Test
  void entryExpiresWithItsLease() {
    var clock = new ManualScheduler();
    var transport = MemoryNetwork.create(clock).openTransport();
    long version = transport.create("k", new byte[1], Duration.ofSeconds(5)).orElseThrow();
    clock.advance(Duration.ofSeconds(4));
    version = transport.update("k", new byte[2], version, Duration.ofSeconds(5)).orElseThrow();
    clock.advance(Duration.ofSeconds(4));

    assertEquals(version, transport.get("k").orElseThrow().version());
    clock.advance(Duration.ofSeconds(1));
    assertTrue(transport.get("k").isEmpty());
    assertEquals(OptionalLong.empty(), transport.update("k", new byte[3], version, Duration.ofSeconds(5)));
    transport.close();
  }

  @Test
  void pendingRequestsFailInSendOrderOnClose() {
    var transport = MemoryNetwork.create().openTransport();
    transport.subscribe("silent", Optional.empty(), request -> {});
    var failedNumbers = new ArrayList<Integer>();
    for (var number : NUMBERS)
      transport.request(WireMessage.oneWay("silent", Map.of(), new byte[0]), Duration.ofMinutes(1))
          .whenComplete((answer, failure) -> failedNumbers.add(number));

    transport.close();

    assertEquals(NUMBERS, failedNumbers);
  }

  @Test
  void oldestWorkOfClosedNodeIsRedeliveredFirst() {
    var network = MemoryNetwork.create();
    var closedTransport = network.openTransport();
    var otherTransport = network.openTransport();
    var redelivered = new LinkedBlockingQueue<Long>();
    closedTransport.queue("work").take(NUMBERS.size(), work -> {});
    for (var number : NUMBERS) otherTransport.queue("work").put("" + number, new byte[0]);
    otherTransport.queue("work").take(1, work -> redelivered.add(work.number()));

    closedTransport.close();

    assertEquals(otherTransport.queue("work").list(0, 1).getFirst().number(), Patience.nextOf(redelivered));
    otherTransport.close();
  }
}
