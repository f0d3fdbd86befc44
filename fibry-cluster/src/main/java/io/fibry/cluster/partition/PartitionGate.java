package io.fibry.cluster.partition;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.membership.InternalActors;
import io.fibry.cluster.partition.MoveProtocol.GateStage;
import io.fibry.cluster.partition.MoveProtocol.GateStep;
import io.fibry.cluster.remote.InboundDispatcher;
import io.fibry.cluster.remote.InboundMessage;
import io.fibry.cluster.remote.NodeContext;
import io.fibry.cluster.remote.TellBundle;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.cluster.wire.Destination;
import io.fibry.durable.SharedStoreAccess;
import io.fibry.pool.Entities;
import io.fibry.pubsub.Subscription;
import io.fibry.text.SafeLogger;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Receives the messages of one partition. It holds them before this node owns the partition, gives
 * them to the entities while this node owns it, and forwards them for a while after that. So no
 * message is lost; the next owner recognizes duplicates by their ids. An actor, the gate, handles
 * one message after the other. All threads use the fields that are immutable. Mutable fields are
 * used only by the actor's thread, unless their comments name other threads.
 */
final class PartitionGate<M> {
  private static final int MAX_WAITING = 4_096; // messages in this object
  private static final long MAX_BYTES = 16 << 20; // of the bodies of these messages
  private static final Duration DRAIN_TIMEOUT = Duration.ofSeconds(10); // for the entities to handle their messages
  private static final Duration KILL_TIMEOUT = Duration.ofSeconds(2);
  private static final Duration ID_RETENTION = Duration.ofSeconds(10); // of message ids; an owner forwards for only 2 s
  private static final long NO_EPOCH = -1;

  private sealed interface GateEvent<M> {}

  private record DirectMessage<M>(InboundMessage message) implements GateEvent<M> {}

  private record ForwardedMessage<M>(InboundMessage message) implements GateEvent<M> {}

  /**
   * Ends the wait for the messages that the previous owner held, in the ownership with this epoch.
   * The previous owner has forwarded all of them, or the coordinator has stopped waiting for them.
   */
  private record TransferEnd<M>(long epoch) implements GateEvent<M> {}

  private record OpenGate<M>(Entities<String, M> entities, boolean isTransferComplete) implements GateEvent<M> {}

  private record ReleaseGate<M>(Runnable onReleased) implements GateEvent<M> {}

  private record ForwardTo<M>(String node, long epoch) implements GateEvent<M> {}

  private record ReclaimGate<M>() implements GateEvent<M> {}

  private record ResumeForwarding<M>() implements GateEvent<M> {}

  private record EndGate<M>(Runnable onEnded) implements GateEvent<M> {}

  /** Sent by the gate to itself, so that it comes after all messages that have arrived. */
  private record GateDrained<M>(Runnable onEnded) implements GateEvent<M> {}

  private final String name; // name of the partition in logs and exceptions
  private final Scheduler clock;
  private final InboundDispatcher<M> dispatcher;
  private final Predicate<String> isOwnKey; // whether a key belongs to this partition
  private final Consumer<String> deliverPending; // delivers the pending messages of a key from the store
  private final Consumer<TransferMessage> transferSender; // sends a message to the next owner
  private final Actor<GateEvent<M>> gate;
  private Subscription subscription; // written before the coordinator knows this object, closed by the gate
  private final AtomicInteger waitingCount = new AtomicInteger(); // messages in this object; used by all threads
  private final AtomicLong waitingBytes = new AtomicLong(); // of their bodies; used by all threads
  private final ArrayDeque<InboundMessage> heldMessages = new ArrayDeque<>();
  private final ArrayDeque<InboundMessage> transferredMessages = new ArrayDeque<>(); // from the previous owner
  // True if no other node gets messages to the partition. The previous owner may still forward
  // messages until exclusiveFrom. Written by the gate, and by the coordinator in drop(); read by
  // threads of the transport
  private volatile boolean isExclusive;
  // in nanoseconds of the clock. Written by the gate; read by threads of the transport, after
  // isExclusive
  private volatile long exclusiveFrom;
  private GateStage stage = GateStage.HOLDING;
  // The epoch of the ownership for which all messages that the previous owner held have arrived
  private long transferCompleteEpoch = NO_EPOCH;
  private boolean hasPreviousOwner; // a previous owner forwards messages until forgetAt
  private Optional<Entities<String, M>> entities = Optional.empty();
  // The ids of messages that entities got, as long as duplicates may arrive
  private final Set<String> seenIds = new HashSet<>();
  private long forgetAt; // when seenIds is cleared, in nanoseconds of the clock
  private volatile long laterEpoch; // of a later owner, or 0; written by the gate, read by the coordinator
  private Optional<ReleaseGate<M>> pendingRelease = Optional.empty();
  private String nextOwner = ""; // empty if there is none
  private long nextEpoch; // the epoch of the next owner

  /**
   * A message for the next owner. An empty {@code wire} says that no held messages follow.
   *
   * @param epoch the epoch of the next owner. The node may lose the partition and own it again,
   * also in another life, before a late message arrives. It must not handle the message then,
   * because it may have handled another copy when it had this epoch.
   */
  record TransferMessage(String node, long epoch, Optional<WireMessage> wire) {

    /** Returns the message as it is sent to the next owner. */
    WireMessage toWireMessage(String subject, String partition) {
      var headers = new HashMap<String, String>();
      wire.ifPresent(message -> headers.putAll(message.headers()));
      headers.put(PartitionCoordinator.PARTITION_HEADER, partition);
      headers.put(Destination.EPOCH, Long.toString(epoch));
      if (wire.isEmpty()) headers.put(PartitionCoordinator.TRANSFER_COMPLETE_HEADER, "");
      return new WireMessage(subject, wire.flatMap(WireMessage::replyTo), headers,
          wire.map(WireMessage::body).orElse(new byte[0]));
    }
  }

  private PartitionGate(String name, ActorScope scope, Scheduler clock, InboundDispatcher<M> dispatcher,
      Predicate<String> isOwnKey, Consumer<String> deliverPending, Consumer<TransferMessage> transferSender) {
    this.name = name;
    this.clock = clock;
    this.isOwnKey = isOwnKey;
    this.deliverPending = deliverPending;
    this.dispatcher = dispatcher;
    this.transferSender = transferSender;
    this.gate = InternalActors.newBuilder(scope).newActor(this::handle);
  }

  /**
   * Returns a gate that holds the messages that arrive from now on.
   *
   * @param name names the partition in refusals
   */
  static <M> PartitionGate<M> openHolding(NodeContext nodeContext, String name, String subject,
      InboundDispatcher<M> dispatcher, Predicate<String> isOwnKey, Consumer<String> deliverPending,
      Consumer<TransferMessage> transferSender) {
    var newGate =
        new PartitionGate<M>(name, nodeContext.scope(), nodeContext.clock(), dispatcher, isOwnKey, deliverPending,
            transferSender);
    boolean isSubscribed = false;
    try {
      newGate.subscription = nodeContext.transport().subscribe(subject, Optional.empty(), newGate::receive);
      newGate.gate.closeOnExit(newGate.subscription, () -> dispatcher.requests().removeAllOf(newGate));
      isSubscribed = true;
      return newGate;
    } finally {
      if (!isSubscribed) newGate.gate.kill();
    }
  }

  /**
   * Called on a thread of the transport. If the gate is full, the sender gets a refusal. But if
   * another node may also get the message, or the sender knows a later owner, a full gate drops the
   * message silently. That node may handle it, or forward it to this node.
   */
  private void receive(WireMessage wire) {
    var message = new InboundMessage(wire, this, clock.nanoTime());
    if (enqueue(new DirectMessage<>(message), message)) return;
    if (!isExclusive || clock.nanoTime() - exclusiveFrom < 0 || isLater(Destination.epochOf(wire))) return;
    dispatcher.refuseAsFull(wire, name + " is full: " + MAX_WAITING + " messages, or "
        + (MAX_BYTES >> 20) + " MiB of messages, wait already; ask again later", MAX_WAITING);
  }

  /**
   * Called on a thread of the transport, with a message that the previous owner forwards. If the
   * gate has no capacity, the message is dropped without a refusal, because the gate may have got
   * the same message from its sender.
   */
  void receiveTransfer(WireMessage wire) {
    var message = new InboundMessage(wire, this, clock.nanoTime());
    enqueue(new ForwardedMessage<>(message), message);
  }

  /** Gives a message to the gate. Returns false if the gate has no capacity, or has ended. */
  private boolean enqueue(GateEvent<M> event, InboundMessage message) {
    dispatcher.requests().addWaiting(message);
    boolean hasCapacity = waitingCount.incrementAndGet() <= MAX_WAITING
        & waitingBytes.addAndGet(message.wire().body().length) <= MAX_BYTES;
    if (hasCapacity && gate.sendMessage(event)) return true;
    onRemoved(message);
    return false;
  }

  private void onRemoved(InboundMessage message) {
    releaseCapacity(message.wire());
    dispatcher.requests().removeWaiting(message);
  }

  private void releaseCapacity(WireMessage wire) {
    waitingCount.decrementAndGet();
    waitingBytes.addAndGet(-wire.body().length);
  }

  // ---- called by the coordinator

  /**
   * Ends the wait for messages that the previous owner held, in the ownership with this epoch.
   */
  void onTransferComplete(long epoch) {
    gate.sendMessage(new TransferEnd<>(epoch));
  }

  /** Begins to handle messages, because this node owns the partition. */
  void open(Entities<String, M> entities, boolean isTransferComplete) {
    gate.sendMessage(new OpenGate<>(entities, isTransferComplete));
  }

  /** {@return the epoch of a later owner, which a message contained; 0 if no message did} */
  long laterEpoch() {
    return laterEpoch;
  }

  /** Lets the entities handle the messages that wait for them, and ends the entities. */
  void releaseWhenHandled(Runnable onReleased) {
    gate.sendMessage(new ReleaseGate<>(onReleased));
  }

  /** @param epoch the epoch of the next owner */
  void forwardTo(String node, long epoch) {
    gate.sendMessage(new ForwardTo<>(node, epoch));
  }

  /**
   * Stops forwarding, and holds messages. Called before this node writes in the table that it owns
   * the partition again. So messages that the next owner forwards back stay here, and are handled
   * first.
   */
  void reclaim() {
    gate.sendMessage(new ReclaimGate<>());
  }

  /** Forwards messages again, because this node does not own the partition after all. */
  void resumeForwarding() {
    gate.sendMessage(new ResumeForwarding<>());
  }

  /** Ends the gate after it has forwarded or refused the messages that have arrived. */
  void endAfterMessages(Runnable onEnded) {
    gate.sendMessage(new EndGate<>(onEnded));
  }

  /**
   * Ends at once, because another node may own the partition. Waiting messages are not answered.
   * The coordinator ends the entities.
   */
  void drop() {
    isExclusive = false;
    gate.kill();
  }

  // ---- the gate

  private void handle(GateEvent<M> event, ActorContext<GateEvent<M>> context) {
    switch (event) {
      case DirectMessage<M> direct -> {
        holdIfSuperseded(Destination.epochOf(direct.message.wire()));
        handleMessage(direct.message);
      }
      case ForwardedMessage<M> forwarded -> {
        if (dropIfTooLate(forwarded.message)) break;
        if (stage == GateStage.HOLDING) transferredMessages.add(forwarded.message);
        else handleMessage(forwarded.message);
      }
      case TransferEnd<M> end -> {
        transferCompleteEpoch = end.epoch;
        openIfReady();
      }
      case OpenGate<M> open -> {
        entities = Optional.of(open.entities);
        stage = stage.after(GateStep.HOLD);
        hasPreviousOwner |= !open.isTransferComplete;
        if (open.isTransferComplete) transferCompleteEpoch = dispatcher.epoch().getAsLong();
        openIfReady();
      }
      case ReleaseGate<M> request -> {
        pendingRelease = Optional.of(request);
        releaseEntities();
      }
      case ForwardTo<M> target -> {
        nextOwner = target.node;
        nextEpoch = target.epoch;
        stage = stage.after(GateStep.FORWARD);
        while (!heldMessages.isEmpty()) handleMessage(heldMessages.poll());
        sendTransfer(Optional.empty());
      }
      case ReclaimGate<M> reclaim -> {
        if (stage == GateStage.FORWARDING) stage = stage.after(GateStep.HOLD);
      }
      case ResumeForwarding<M> resume -> continueForwarding();
      case GateDrained<M> drained -> {
        while (!heldMessages.isEmpty()) refuse(heldMessages.poll()); // there is no next owner
        context.self().sendPoisonPill();
        drained.onEnded.run();
      }
      case EndGate<M> end -> {
        continueForwarding();
        subscription.close(); // messages that have arrived are still forwarded
        context.self().sendMessage(new GateDrained<>(end.onEnded));
      }
    }
  }

  /**
   * If the sender of a message knows a later owner, holds messages until the coordinator has found
   * or written in the table that this node is the owner. This node may be unaware that its lease
   * has expired, because its clocks may stop while its machine is suspended.
   */
  private void holdIfSuperseded(long epoch) {
    if (stage != GateStage.OPEN && stage != GateStage.HOLDING || !isLater(epoch)) return;
    stage = stage.after(GateStep.HOLD);
    isExclusive = false;
    laterEpoch = Math.max(laterEpoch, epoch);
  }

  private boolean isLater(long epoch) {
    return epoch > dispatcher.epoch().getAsLong();
  }

  private void openIfReady() {
    if (stage != GateStage.HOLDING || entities.isEmpty() || isLater(laterEpoch)
        || transferCompleteEpoch != dispatcher.epoch().getAsLong())
      return;
    stage = stage.after(GateStep.OPEN);
    long now = clock.nanoTime();
    forgetAt = now + ID_RETENTION.toNanos();
    exclusiveFrom = hasPreviousOwner ? forgetAt : now;
    handleHeld();
    isExclusive = true;
    releaseEntities();
  }

  /**
   * Ends the entities if the coordinator wants to release the partition. A gate that is not open
   * first waits for the messages that the previous owner holds, because a released gate may drop
   * them as too late.
   */
  private void releaseEntities() {
    if (stage != GateStage.OPEN || pendingRelease.isEmpty()) return;
    closeEntities();
    stage = stage.after(GateStep.RELEASE);
    isExclusive = false;
    hasPreviousOwner = false;
    pendingRelease.get().onReleased.run();
    pendingRelease = Optional.empty();
  }

  private void continueForwarding() {
    if (stage != GateStage.HOLDING || nextOwner.isEmpty()) return;
    stage = stage.after(GateStep.FORWARD);
    handleHeld();
  }

  /** Handles the messages that the previous owner held, and then the messages that arrived here. */
  private void handleHeld() {
    while (!transferredMessages.isEmpty()) {
      var message = transferredMessages.poll();
      if (isForThisOwnership(message)) handleMessage(message);
      else onRemoved(message);
    }
    while (!heldMessages.isEmpty()) handleMessage(heldMessages.poll());
  }

  private void handleMessage(InboundMessage message) {
    switch (stage) {
      case HOLDING, RELEASED -> heldMessages.add(message);
      case FORWARDING -> {
        onRemoved(message);
        if (!isSeen(message)) message.withRemainingTime(clock).ifPresent(wire -> sendTransfer(Optional.of(wire)));
      }
      default -> {
        if (!recordId(message)) {
          onRemoved(message);
          break;
        }
        releaseCapacity(message.wire());
        message.withRemainingTime(clock).ifPresent(this::deliver); // may wait for capacity in a mailbox
        dispatcher.requests().removeWaiting(message);
      }
    }
  }

  private void refuse(InboundMessage message) {
    onRemoved(message);
    dispatcher.refuseAsWithdrawn(message.wire(), "a node has just released " + name + ", which has no next owner");
  }

  /**
   * Sends a message to the next owner or, if {@code wire} is empty, the end of the transfer. Sends
   * nothing if this node may have been declared dead, because another owner may have handled the
   * message, and the next owner cannot know that.
   */
  private void sendTransfer(Optional<WireMessage> wire) {
    if (!dispatcher.mayAnswer().getAsBoolean()) return;
    try {
      transferSender.accept(new TransferMessage(nextOwner, nextEpoch, wire));
    } catch (RuntimeException failure) { // the next owner continues without this message
      SafeLogger.of(Cluster.class).warn("node '{}' does not get {}", nextOwner,
          wire.isPresent() ? "a message that this node forwards" : "the notice that it has all held messages", failure);
    }
  }

  private void deliver(WireMessage wire) {
    if (!dispatcher.mayAnswer().getAsBoolean()) return;
    if (TellBundle.isBundle(wire)) {
      dispatcher.deliverAll(wire, SharedStoreAccess::withReceivedBytes,
          key -> key.filter(isOwnKey).map(text -> entities.orElseThrow().actor(text)));
      return;
    }
    var key = wire.header(Destination.KEY).filter(isOwnKey);
    if (key.isEmpty()) return; // not a key of this partition
    if (wire.header(Destination.DELIVER_PENDING).isPresent()) {
      deliverPending.accept(key.get());
      return;
    }
    var message = dispatcher.read(wire);
    if (message.isPresent()) dispatcher.deliver(wire, message.get(),
        () -> SharedStoreAccess.withReceivedBytes(entities.orElseThrow().actor(key.get()), wire.body()));
  }

  private boolean isForThisOwnership(InboundMessage forwarded) {
    return Destination.epochOf(forwarded.wire()) == dispatcher.epoch().getAsLong();
  }

  /**
   * Drops a forwarded message whose id this node may have forgotten, or has perhaps recorded in an
   * earlier ownership. Returns whether it was dropped.
   */
  private boolean dropIfTooLate(InboundMessage message) {
    if (stage == GateStage.HOLDING || clock.nanoTime() - forgetAt < 0 && isForThisOwnership(message)) return false;
    onRemoved(message);
    return true;
  }

  private boolean isSeen(InboundMessage message) {
    return message.wire().header(Destination.MESSAGE_ID).filter(seenIds::contains).isPresent();
  }

  /**
   * Records the id of a message that an entity gets now, as long as duplicates may arrive. Returns
   * false if the message is a duplicate. Messages that wait here may be duplicates of each other.
   */
  private boolean recordId(InboundMessage message) {
    if (clock.nanoTime() - forgetAt >= 0) {
      if (!seenIds.isEmpty()) seenIds.clear();
      return true;
    }
    return message.wire().header(Destination.MESSAGE_ID).map(seenIds::add).orElse(true);
  }

  private void closeEntities() {
    entities.ifPresent(present -> {
      present.sendPoisonPill();
      if (present.waitForExit(DRAIN_TIMEOUT)) return;
      present.kill();
      present.waitForExit(KILL_TIMEOUT);
    });
    entities = Optional.empty();
  }
}
