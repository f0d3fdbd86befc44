package io.fibry.cluster.partition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.cluster.MemoryNetwork;
import io.fibry.cluster.remote.InboundDispatcher;
import io.fibry.cluster.remote.NodeContext;
import io.fibry.cluster.remote.RequestRegistry;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.cluster.wire.Destination;
import io.fibry.cluster.wire.Protocol;
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

/** Tests how a node treats messages to a partition that has moved to another node. */
class MovedPartitionTest {
  record Pay(int cents) {}

  private static final Duration ONE_MINUTE = Duration.ofMinutes(1);
  private static final Protocol<Pay> PROTOCOL = Protocol.of(Pay.class);

  // the clock does not move, so no message expires
  private final ActorScope scope =
      ActorSystem.openScope("partition-test", options -> options.withScheduler(new ManualScheduler()));
  private final ClusterTransport transport = MemoryNetwork.create().connect("bank", "a");
  private final List<PartitionGate.TransferMessage> transfers = new CopyOnWriteArrayList<>();
  private final List<Pay> handledPays = new CopyOnWriteArrayList<>();
  private volatile boolean isAlive = true; // false: other nodes may have declared this node dead
  private volatile long epoch; // the epoch with which this node owns the partition
  private final PartitionGate<Pay> gate = PartitionGate.openHolding(
      new NodeContext(scope, BlockBuilder.of(scope.anonymous()).scheduler(), transport, null, null, null, "a",
          ONE_MINUTE, null),
      "partition 0", "part",
      new InboundDispatcher<>(transport, "account", "a.1", PROTOCOL, new RequestRegistry(), () -> isAlive, () -> epoch,
          BlockBuilder.of(ActorSystem.anonymous()), Runnable::run),
      key -> true,
      key -> {}, transfers::add);

  @AfterEach
  void close() {
    scope.close();
    transport.close();
  }

  /** Gives the partition to node b. The gate runs these steps in order. */
  private void giveAway() {
    gate.open(
        Entities.open(scope.anonymous(), ONE_MINUTE, (builder, key) -> builder.newActor((Pay message) -> {})), true);
    gate.releaseWhenHandled(() -> gate.forwardTo("b", 9));
    assertTrue(scope.awaitQuiescence(ONE_MINUTE));
    transfers.clear(); // removes the message that ends the transfer
  }

  private void receive(int cents) {
    receive(cents, epoch);
  }

  /** Receives a message that the previous owner has forwarded to the owner with this epoch. */
  private void receive(int cents, long epochOfReceiver) {
    gate.receiveTransfer(wire(cents, epochOfReceiver));
    assertTrue(scope.awaitQuiescence(ONE_MINUTE));
  }

  private static WireMessage wire(int cents, long epoch) {
    return WireMessage.oneWay("part",
        Map.of(Destination.KEY, "ada", Destination.MESSAGE_ID, "c." + cents, Destination.EPOCH, Long.toString(epoch)),
        PROTOCOL.encode(new Pay(cents)));
  }

  private List<Pay> transferredPays() {
    return transfers.stream().map(transfer -> PROTOCOL.decode(transfer.wire().orElseThrow().body())).toList();
  }

  @Test
  void messageAfterPartitionMoveIsForwardedToNextOwner() {
    giveAway();

    receive(100);

    assertEquals(List.of(new Pay(100)), transferredPays());
  }

  @Test
  void messageReceivedDuringReclaimIsHandledLocally() {
    giveAway();
    gate.reclaim();

    receive(100);
    open();

    assertEquals(List.of(), transferredPays());
    assertEquals(List.of(new Pay(100)), handledPays);
  }

  @Test
  void messageHeldDuringReclaimIsForwardedIfReclaimFails() {
    giveAway();
    gate.reclaim();
    receive(100);

    gate.resumeForwarding();

    assertTrue(scope.awaitQuiescence(ONE_MINUTE));
    assertEquals(List.of(new Pay(100)), transferredPays());
  }

  private void send(int cents, long epochOfSender) {
    transport.publish(wire(cents, epochOfSender));
  }

  private void open() {
    open(true);
  }

  private void open(boolean isTransferComplete) {
    gate.open(Entities.open(scope.anonymous(), ONE_MINUTE,
        (builder, key) -> builder.newActor((Pay message) -> handledPays.add(message))), isTransferComplete);
    assertTrue(scope.awaitQuiescence(ONE_MINUTE));
  }

  @Test
  void messageWithLaterEpochIsHeldUntilNodeOwnsThatEpoch() {
    epoch = 5;
    open();

    send(1, 5);
    send(2, 7);
    send(3, 4);

    Patience.eventually(() -> gate.laterEpoch() == 7);
    assertTrue(scope.awaitQuiescence(ONE_MINUTE));
    assertEquals(List.of(new Pay(1)), handledPays);
    epoch = 7; // the table now says that this node owns the partition
    open();
    send(4, 7);
    Patience.eventually(() -> handledPays.equals(List.of(new Pay(1), new Pay(2), new Pay(3), new Pay(4))));
  }

  /** The node was suspended while it waited for the previous owner to hand the partition over. */
  @Test
  void messageWithLaterEpochIsHeldThoughPartitionOpens() {
    epoch = 5;
    send(1, 7);
    assertTrue(ActorSystem.root().awaitQuiescence(ONE_MINUTE));

    open();

    assertEquals(List.of(), handledPays);
    assertEquals(7, gate.laterEpoch());
    epoch = 7; // the table now says that this node owns the partition
    open();
    Patience.eventually(() -> handledPays.equals(List.of(new Pay(1))));
  }

  @Test
  void forwardedMessageNamesEpochOfNextOwner() {
    giveAway();

    receive(100);

    assertEquals(9, Destination.epochOf(transfers.getFirst().toWireMessage("fb.bank.x.b", "account.0")));
  }

  /**
   * The node may have handled another copy of the message while it owned the partition with epoch
   * 5. It no longer knows the ids of the messages that it handled then.
   */
  @Test
  void messageForwardedToEarlierEpochIsDropped() {
    epoch = 7;
    receive(1, 5); // before the partition opens
    receive(2, 7);
    open();

    receive(3, 5);
    receive(4, 7);

    assertEquals(List.of(new Pay(2), new Pay(4)), handledPays);
  }

  /** A message may arrive from its sender, from the previous owner, and from an earlier owner. */
  @Test
  void heldCopiesOfMessageAreHandledOnce() {
    epoch = 7;
    receive(1, 5);
    send(1, 7);
    receive(1, 7);
    receive(2, 5);
    receive(2, 7);
    send(3, 7);
    assertTrue(ActorSystem.root().awaitQuiescence(ONE_MINUTE));

    open();

    Patience.eventually(() -> handledPays.equals(List.of(new Pay(1), new Pay(2), new Pay(3))));
    receive(3, 7);
    assertEquals(3, handledPays.size());
  }

  @Test
  void transferOfEarlierEpochDoesNotOpenPartition() {
    epoch = 7;
    gate.onTransferComplete(5);
    open(false);
    send(1, 7);
    assertTrue(ActorSystem.root().awaitQuiescence(ONE_MINUTE));
    assertEquals(List.of(), handledPays);
    receive(2, 7); // the previous owner held it, so it comes first

    gate.onTransferComplete(7);

    Patience.eventually(() -> handledPays.equals(List.of(new Pay(2), new Pay(1))));
  }

  /**
   * Another node may have owned the partition in the meantime, and may have handled the message. If
   * this node forwarded the message, the next owner would handle it again.
   */
  @Test
  void nodeDeclaredDeadForwardsNoMessages() {
    giveAway();
    isAlive = false;

    receive(100);

    assertEquals(List.of(), transferredPays());
  }
}
