package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.pool.Entities;
import io.fibry.spi.BlockBuilder;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a node does with messages to a part that it has given away. */
class MovedPartitionTest {
  record Pay(int cents) {}

  private static final Duration LONG = Duration.ofMinutes(1);
  private static final Protocol<Pay> PROTOCOL = Protocol.of(Pay.class);

  // a clock that stands: no message is too late
  private final ActorScope scope =
      ActorSystem.openScope("part-test", options -> options.withScheduler(new ManualScheduler()));
  private final ClusterTransport engine = MemoryNetwork.create().connect("bank", "a");
  private final List<PartitionGate.TransferMessage> handed = new CopyOnWriteArrayList<>();
  private final List<Pay> got = new CopyOnWriteArrayList<>();
  private volatile boolean isAlive = true; // in the eyes of others
  private volatile long epoch; // by which this node owns the part
  private final PartitionGate<Pay> part = PartitionGate.hold(
      new NodeContext(scope, BlockBuilder.of(scope.anonymous()).scheduler(), engine, null, null, null, "a", LONG,
          null),
      "part",
      new InboundDispatcher<>(engine, "account", "a.1", PROTOCOL, new RequestRegistry(), () -> isAlive, () -> epoch,
          BlockBuilder.of(ActorSystem.anonymous())),
      key -> true,
      key -> {}, handed::add);

  @AfterEach
  void close() {
    scope.close();
    engine.close();
  }

  /** All is done in turn, by the gate. */
  private void giveAway() {
    part.open(Entities.open(scope.anonymous(), LONG, (how, key) -> how.newActor((Pay message) -> {})), true);
    part.releaseWhenHandled(() -> part.forwardTo("b"));
    assertTrue(scope.awaitQuiescence(LONG));
    handed.clear(); // that it was all
  }

  private void arrive(int cents) {
    part.receiveTransfer(
        WireMessage.to("part", Map.of(Destination.KEY, "ada", Destination.MESSAGE_ID, "c." + cents),
            PROTOCOL.encode(new Pay(cents))));
    assertTrue(scope.awaitQuiescence(LONG));
  }

  private List<Pay> handed() {
    return handed.stream().map(one -> PROTOCOL.decode(one.wire().orElseThrow().body())).toList();
  }

  @Test
  void lateMessageIsPassedToNextOwner() {
    giveAway();

    arrive(100);

    assertEquals(List.of(new Pay(100)), handed());
  }

  @Test
  void messageHandedBackByNextOwnerIsHandledLocally() {
    giveAway();
    part.reclaim();

    arrive(100);
    part.open(Entities.open(scope.anonymous(), LONG, (how, key) -> how.newActor((Pay message) -> got.add(message))),
        true);

    assertTrue(scope.awaitQuiescence(LONG));
    assertEquals(List.of(), handed());
    assertEquals(List.of(new Pay(100)), got);
  }

  @Test
  void messageIsPassedOnWhenPartitionIsNotTakenBack() {
    giveAway();
    part.reclaim();
    arrive(100);

    part.resumeForwarding();

    assertTrue(scope.awaitQuiescence(LONG));
    assertEquals(List.of(new Pay(100)), handed());
  }

  private void send(int cents, long known) {
    engine.publish(
        WireMessage.to("part",
            Map.of(Destination.KEY, "ada", Destination.MESSAGE_ID, "c." + cents, Destination.EPOCH,
                Long.toString(known)),
            PROTOCOL.encode(new Pay(cents))));
  }

  private void open() {
    part.open(Entities.open(scope.anonymous(), LONG, (how, key) -> how.newActor((Pay message) -> got.add(message))),
        true);
    assertTrue(scope.awaitQuiescence(LONG));
  }

  @Test
  void messageWithLaterEpochIsHeld() {
    epoch = 5;
    open();

    send(1, 5);
    send(2, 7);
    send(3, 4);

    Patience.eventually(() -> part.laterEpoch() == 7);
    assertTrue(scope.awaitQuiescence(LONG));
    assertEquals(List.of(new Pay(1)), got);
    epoch = 7; // the table says that it is this node's own
    open();
    send(4, 7);
    Patience.eventually(() -> got.equals(List.of(new Pay(1), new Pay(2), new Pay(3), new Pay(4))));
  }

  /** The machine was suspended while it waited for the node before to hand the part over. */
  @Test
  void messageWithLaterEpochIsHeldBeforePartitionOpens() {
    epoch = 5;
    send(1, 7);
    assertTrue(ActorSystem.root().awaitQuiescence(LONG));

    open();

    assertEquals(List.of(), got);
    assertEquals(7, part.laterEpoch());
    epoch = 7; // the table says that it is this node's own
    open();
    Patience.eventually(() -> got.equals(List.of(new Pay(1))));
  }

  /** The next node may have lost the part, and got it again from a node that handled this. */
  @Test
  void nodeDeclaredDeadPassesNoMessagesOn() {
    giveAway();
    isAlive = false;

    arrive(100);

    assertEquals(List.of(), handed());
  }
}
