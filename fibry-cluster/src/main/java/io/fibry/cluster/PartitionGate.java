package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.durable.SharedStoreAccess;
import io.fibry.pool.Entities;
import io.fibry.pubsub.Subscription;
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
import org.slf4j.LoggerFactory;

/**
 * The entities of one part of the keys, as long as their messages come to this node: before it owns
 * the part, while it does, and after it has given the part away. After that, it passes on late
 * messages, so that none is lost; the next owner recognizes duplicates by their ids. An actor, the
 * gate, does one after the other; fields without a remark are of its thread.
 */
final class PartitionGate<M> {
  private static final int MAX_WAITING = 4_096; // messages
  private static final long MAX_BYTES = 16 << 20; // of them
  private static final Duration DRAIN_TIMEOUT = Duration.ofSeconds(10); // entities, of what waits for them
  private static final Duration KILL_TIMEOUT = Duration.ofSeconds(2);
  private static final Duration ID_RETENTION = Duration.ofSeconds(10); // ids of messages; passing on lasts two

  private enum GateStage {
    HOLDING, OPEN, RELEASED, FORWARDING
  }

  private sealed interface GateEvent<M> {}

  private record DirectMessage<M>(InboundMessage message) implements GateEvent<M> {}

  private record ForwardedMessage<M>(InboundMessage message) implements GateEvent<M> {}

  /** All that was held by the node before has come. */
  private record TransferEnd<M>() implements GateEvent<M> {}

  private record OpenGate<M>(Entities<String, M> entities, boolean isTransferComplete) implements GateEvent<M> {}

  private record ReleaseGate<M>(Runnable onReleased) implements GateEvent<M> {}

  private record ForwardTo<M>(String node) implements GateEvent<M> {}

  private record ReclaimGate<M>() implements GateEvent<M> {}

  private record ResumeForwarding<M>() implements GateEvent<M> {}

  private record EndGate<M>(Runnable onEnded) implements GateEvent<M> {}

  /** All that has arrived is done. */
  private record GateDrained<M>(Runnable onEnded) implements GateEvent<M> {}

  private final Scheduler clock;
  private final InboundDispatcher<M> dispatcher;
  private final Predicate<String> keys; // of this part
  private final Consumer<String> deliverPending; // after what waits at the store for a key
  private final Consumer<TransferMessage> transfers; // to other nodes
  private final Actor<GateEvent<M>> gate;
  private Subscription arrivals; // written before the steward knows this object
  private final AtomicInteger waitingCount = new AtomicInteger(); // messages here; of all threads
  private final AtomicLong bytes = new AtomicLong(); // of them
  private final ArrayDeque<InboundMessage> heldMessages = new ArrayDeque<>();
  private final ArrayDeque<InboundMessage> transferred = new ArrayDeque<>(); // by the node before
  private volatile boolean isExclusive; // no other node gets these messages, too; read by all
  private GateStage stage = GateStage.HOLDING;
  private boolean isTransferComplete; // that was held by the node before
  private Optional<Entities<String, M>> entities = Optional.empty();
  private final Set<String> seenIds = new HashSet<>(); // ids, as long as messages may come twice
  private long forgetAt;
  private volatile long laterEpoch; // an epoch that is later than this node's, or 0; read by the steward
  private Optional<ReleaseGate<M>> release = Optional.empty();
  private String nextOwner = ""; // the node that has the part now

  /** A message for the next owner; empty after the last one. */
  record TransferMessage(String node, Optional<WireMessage> wire) {

    /** On its way to a node. */
    WireMessage toWireMessage(String subject, String part) {
      var headers = new HashMap<String, String>();
      wire.ifPresent(one -> headers.putAll(one.headers()));
      headers.put(PartitionCoordinator.PARTITION_HEADER, part);
      if (wire.isEmpty()) headers.put(PartitionCoordinator.TRANSFER_COMPLETE_HEADER, "");
      return new WireMessage(subject, wire.flatMap(WireMessage::replyTo), headers,
          wire.map(WireMessage::body).orElse(new byte[0]));
    }
  }

  private PartitionGate(ActorScope scope, Scheduler clock, InboundDispatcher<M> dispatcher, Predicate<String> keys,
      Consumer<String> deliverPending, Consumer<TransferMessage> transfers) {
    this.clock = clock;
    this.keys = keys;
    this.deliverPending = deliverPending;
    this.dispatcher = dispatcher;
    this.transfers = transfers;
    this.gate = NodeContext.newInternalBuilder(scope).newActor(this::handle);
  }

  /** It holds what comes, from the moment that this returns. */
  static <M> PartitionGate<M> hold(NodeContext nodeContext, String subject, InboundDispatcher<M> dispatcher,
      Predicate<String> keys, Consumer<String> deliverPending, Consumer<TransferMessage> transfers) {
    var part =
        new PartitionGate<M>(nodeContext.scope(), nodeContext.clock(), dispatcher, keys, deliverPending, transfers);
    boolean listens = false;
    try {
      part.arrivals = nodeContext.engine().subscribe(subject, Optional.empty(), part::receive);
      part.gate.closeOnExit(part.arrivals, () -> dispatcher.pendingRequests().removeAllOf(part));
      listens = true;
      return part;
    } finally {
      if (!listens) part.gate.kill();
    }
  }

  /** On the engine's thread. */
  private void receive(WireMessage wire) {
    var message = new InboundMessage(wire, this, clock.nanoTime());
    enqueue(new DirectMessage<>(message), message);
  }

  /** Called on the engine's thread, with a message that the previous owner passes on. */
  void receiveTransfer(WireMessage wire) {
    var message = new InboundMessage(wire, this, clock.nanoTime());
    enqueue(new ForwardedMessage<>(message), message);
  }

  /** Where another node gets it, too, only that one knows how it ends. */
  private void enqueue(GateEvent<M> event, InboundMessage message) {
    var wire = message.wire();
    dispatcher.pendingRequests().addWaiting(message);
    boolean room = waitingCount.incrementAndGet() <= MAX_WAITING & bytes.addAndGet(wire.body().length) <= MAX_BYTES;
    if (room && gate.sendMessage(event)) return;
    onHandled(message);
    if (isExclusive) dispatcher.refuse(wire, MAX_WAITING, false);
  }

  private void onHandled(InboundMessage message) {
    releaseRoom(message.wire());
    dispatcher.pendingRequests().removeWaiting(message);
  }

  private void releaseRoom(WireMessage wire) {
    waitingCount.decrementAndGet();
    bytes.addAndGet(-wire.body().length);
  }

  // ---- for the steward

  void onTransferComplete() {
    gate.sendMessage(new TransferEnd<>());
  }

  /** It is this node's own. */
  void open(Entities<String, M> entities, boolean handed) {
    gate.sendMessage(new OpenGate<>(entities, handed));
  }

  /**
   * {@return a later epoch of which a sender told, until the table says who owns the part, or 0}
   */
  long laterEpoch() {
    return laterEpoch;
  }

  /** Lets the entities handle what waits for them, and puts them away. */
  void give(Runnable given) {
    gate.sendMessage(new ReleaseGate<>(given));
  }

  void forwardTo(String node) {
    gate.sendMessage(new ForwardTo<>(node));
  }

  /** Before it is written, so that what the next node hands back comes first, and stays. */
  void reclaim() {
    gate.sendMessage(new ReclaimGate<>());
  }

  /** It is not this node's own after all. */
  void resumeForwarding() {
    gate.sendMessage(new ResumeForwarding<>());
  }

  /** After what has arrived. */
  void endAfterMessages(Runnable ended) {
    gate.sendMessage(new EndGate<>(ended));
  }

  /**
   * At once: others have this part. Waiting messages are not answered; the steward ends the
   * entities.
   */
  void drop() {
    isExclusive = false;
    gate.kill();
  }

  // ---- the gate

  private void handle(GateEvent<M> event, ActorContext<GateEvent<M>> context) {
    switch (event) {
      case DirectMessage<M> direct -> {
        if (!isNew(direct.message)) break;
        noteEpoch(Route.epoch(direct.message.wire()));
        handleMessage(direct.message);
      }
      case ForwardedMessage<M> passed -> {
        if (isTooLate(passed.message) || !isNew(passed.message)) break;
        if (stage == GateStage.HOLDING) transferred.add(passed.message);
        else handleMessage(passed.message);
      }
      case TransferEnd<M> all -> {
        isTransferComplete = true;
        startHandling();
      }
      case OpenGate<M> open -> {
        entities = Optional.of(open.entities);
        stage = GateStage.HOLDING;
        isTransferComplete |= open.isTransferComplete;
        startHandling();
      }
      case ReleaseGate<M> give -> {
        release = Optional.of(give);
        releaseEntities();
      }
      case ForwardTo<M> to -> {
        nextOwner = to.node;
        stage = GateStage.FORWARDING;
        while (!heldMessages.isEmpty()) handleMessage(heldMessages.poll());
        sendTransfer(Optional.empty());
      }
      case ReclaimGate<M> back -> {
        if (stage == GateStage.FORWARDING) stage = GateStage.HOLDING;
      }
      case ResumeForwarding<M> on -> continueForwarding();
      case GateDrained<M> over -> {
        while (!heldMessages.isEmpty()) refuse(heldMessages.poll()); // no next owner takes them
        context.self().sendPoisonPill();
        over.onEnded.run();
      }
      case EndGate<M> end -> {
        continueForwarding();
        arrivals.close(); // after messages that were sent to this node, which are passed on, too
        context.self().sendMessage(new GateDrained<>(end.onEnded));
      }
    }
  }

  /**
   * The sender knows of a later owner. The clocks of this node may have stopped with its machine,
   * so it holds what comes until the steward has asked the table, or has just written to it.
   */
  private void noteEpoch(long epoch) {
    if (stage != GateStage.OPEN && stage != GateStage.HOLDING || !isLater(epoch)) return;
    stage = GateStage.HOLDING;
    isExclusive = false;
    laterEpoch = Math.max(laterEpoch, epoch);
  }

  private boolean isLater(long epoch) {
    return epoch > dispatcher.epoch().getAsLong();
  }

  private void startHandling() {
    if (stage != GateStage.HOLDING || entities.isEmpty() || !isTransferComplete || isLater(laterEpoch)) return;
    stage = GateStage.OPEN;
    forgetAt = clock.nanoTime() + ID_RETENTION.toNanos();
    handleHeld();
    isExclusive = true;
    releaseEntities();
  }

  /**
   * Gives the part away only after it has begun, so each owner hears of the next one, and passes
   * messages on to that one.
   */
  private void releaseEntities() {
    if (stage != GateStage.OPEN || release.isEmpty()) return;
    closeEntities();
    stage = GateStage.RELEASED;
    isExclusive = false;
    isTransferComplete = false;
    release.get().onReleased.run();
    release = Optional.empty();
  }

  private void continueForwarding() {
    if (stage != GateStage.HOLDING || nextOwner.isEmpty()) return;
    stage = GateStage.FORWARDING;
    handleHeld();
  }

  /** First what the node before has held, then what came here meanwhile. */
  private void handleHeld() {
    while (!transferred.isEmpty()) handleMessage(transferred.poll());
    while (!heldMessages.isEmpty()) handleMessage(heldMessages.poll());
  }

  private void handleMessage(InboundMessage message) {
    switch (stage) {
      case HOLDING, RELEASED -> heldMessages.add(message);
      case FORWARDING -> {
        onHandled(message);
        message.wire().header(Route.ID).ifPresent(seenIds::remove); // it may come back
        message.withRemainingTime(clock).ifPresent(wire -> sendTransfer(Optional.of(wire)));
      }
      default -> {
        releaseRoom(message.wire());
        message.withRemainingTime(clock).ifPresent(this::give); // may wait for room in a mailbox
        dispatcher.pendingRequests().removeWaiting(message);
      }
    }
  }

  private void refuse(InboundMessage message) {
    onHandled(message);
    dispatcher.refuse(message.wire(), MAX_WAITING, true);
  }

  /** Where this node was given up, another one may have handled it, and the next cannot know. */
  private void sendTransfer(Optional<WireMessage> wire) {
    if (!dispatcher.mayAnswer().getAsBoolean()) return;
    try {
      transfers.accept(new TransferMessage(nextOwner, wire));
    } catch (RuntimeException lost) { // the next owner continues without it
      LoggerFactory.getLogger(Cluster.class).warn("node '{}' does not get a message that was held for it", nextOwner,
          lost);
    }
  }

  private void give(WireMessage wire) {
    if (!dispatcher.mayAnswer().getAsBoolean()) return;
    if (InboundDispatcher.isTellBundle(wire)) {
      dispatcher.deliverAll(wire, SharedStoreAccess::asReceived,
          key -> key.filter(keys).map(one -> entities.orElseThrow().actor(one)));
      return;
    }
    var key = wire.header(Route.KEY).filter(keys);
    if (key.isEmpty()) return; // of a foreign program
    if (wire.header(Route.DELIVER_PENDING).isPresent()) {
      deliverPending.accept(key.get());
      return;
    }
    var message = dispatcher.read(wire);
    if (message.isPresent()) dispatcher.deliver(wire, message.get(),
        () -> SharedStoreAccess.asReceived(entities.orElseThrow().actor(key.get()), wire.body()));
  }

  /** It may have been handled here, and been forgotten. */
  private boolean isTooLate(InboundMessage message) {
    if (stage == GateStage.HOLDING || clock.nanoTime() - forgetAt < 0) return false;
    onHandled(message);
    return true;
  }

  /** It is not here, nor was handled here. */
  private boolean isNew(InboundMessage message) {
    if (stage == GateStage.OPEN && clock.nanoTime() - forgetAt >= 0) {
      if (!seenIds.isEmpty()) seenIds.clear();
      return true;
    }
    boolean first = message.wire().header(Route.ID).map(seenIds::add).orElse(true);
    if (!first) onHandled(message);
    return first;
  }

  private void closeEntities() {
    entities.ifPresent(all -> {
      all.sendPoisonPill();
      if (all.waitForExit(DRAIN_TIMEOUT)) return;
      all.kill();
      all.waitForExit(KILL_TIMEOUT);
    });
    entities = Optional.empty();
  }
}
