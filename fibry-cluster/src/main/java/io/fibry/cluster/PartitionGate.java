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
  private static final int MOST_WAITING = 4_096; // messages
  private static final long MOST_BYTES = 16 << 20; // of them
  private static final Duration DRAINING = Duration.ofSeconds(10); // entities, of what waits for them
  private static final Duration KILLING = Duration.ofSeconds(2);
  private static final Duration REMEMBERED = Duration.ofSeconds(10); // ids of messages; passing on lasts two

  private enum GateStage {
    HOLDING, OPEN, GIVEN, PASSING
  }

  private sealed interface GateEvent<M> {}

  private record DirectMessage<M>(InboundMessage message) implements GateEvent<M> {}

  private record ForwardedMessage<M>(InboundMessage message) implements GateEvent<M> {}

  /** All that was held by the node before has come. */
  private record TransferEnd<M>() implements GateEvent<M> {}

  private record OpenGate<M>(Entities<String, M> entities, boolean handed) implements GateEvent<M> {}

  private record ReleaseGate<M>(Runnable given) implements GateEvent<M> {}

  private record ForwardTo<M>(String node) implements GateEvent<M> {}

  private record ReclaimGate<M>() implements GateEvent<M> {}

  private record ResumeForwarding<M>() implements GateEvent<M> {}

  private record EndGate<M>(Runnable ended) implements GateEvent<M> {}

  /** All that has arrived is done. */
  private record GateDrained<M>(Runnable ended) implements GateEvent<M> {}

  private final Scheduler clock;
  private final InboundDispatcher<M> reception;
  private final Predicate<String> keys; // of this part
  private final Consumer<String> look; // after what waits at the store for a key
  private final Consumer<TransferMessage> hands; // to other nodes
  private final Actor<GateEvent<M>> gate;
  private Subscription arrivals; // written before the steward knows this object
  private final AtomicInteger waiting = new AtomicInteger(); // messages here; of all threads
  private final AtomicLong bytes = new AtomicLong(); // of them
  private final ArrayDeque<InboundMessage> held = new ArrayDeque<>();
  private final ArrayDeque<InboundMessage> handed = new ArrayDeque<>(); // by the node before
  private volatile boolean alone; // no other node gets these messages, too; read by all
  private GateStage stage = GateStage.HOLDING;
  private boolean hasAll; // that was held by the node before
  private Optional<Entities<String, M>> entities = Optional.empty();
  private final Set<String> seen = new HashSet<>(); // ids, as long as messages may come twice
  private long forgetAt;
  private volatile long doubt; // an epoch that is later than this node's, or 0; read by the steward
  private Optional<ReleaseGate<M>> giving = Optional.empty();
  private String next = ""; // the node that has the part now

  /** A message for the next owner; empty after the last one. */
  record TransferMessage(String node, Optional<WireMessage> wire) {

    /** On its way to a node. */
    WireMessage to(String subject, String part) {
      var headers = new HashMap<String, String>();
      wire.ifPresent(one -> headers.putAll(one.headers()));
      headers.put(PartitionCoordinator.PART, part);
      if (wire.isEmpty()) headers.put(PartitionCoordinator.ALL, "");
      return new WireMessage(subject, wire.flatMap(WireMessage::replyTo), headers,
          wire.map(WireMessage::body).orElse(new byte[0]));
    }
  }

  private PartitionGate(ActorScope scope, Scheduler clock, InboundDispatcher<M> reception, Predicate<String> keys,
      Consumer<String> look, Consumer<TransferMessage> hands) {
    this.clock = clock;
    this.keys = keys;
    this.look = look;
    this.reception = reception;
    this.hands = hands;
    this.gate = NodeContext.own(scope).newActor(this::handle);
  }

  /** It holds what comes, from the moment that this returns. */
  static <M> PartitionGate<M> hold(NodeContext around, String subject, InboundDispatcher<M> reception,
      Predicate<String> keys, Consumer<String> look, Consumer<TransferMessage> hands) {
    var part = new PartitionGate<M>(around.scope(), around.clock(), reception, keys, look, hands);
    boolean listens = false;
    try {
      part.arrivals = around.engine().subscribe(subject, Optional.empty(), part::receive);
      part.gate.closeOnExit(part.arrivals, () -> reception.underWay().dropped(part));
      listens = true;
      return part;
    } finally {
      if (!listens) part.gate.kill();
    }
  }

  /** On the engine's thread. */
  private void receive(WireMessage wire) {
    var message = new InboundMessage(wire, this, clock.nanoTime());
    arrive(new DirectMessage<>(message), message);
  }

  /** Called on the engine's thread, with a message that the previous owner passes on. */
  void pass(WireMessage wire) {
    var message = new InboundMessage(wire, this, clock.nanoTime());
    arrive(new ForwardedMessage<>(message), message);
  }

  /** Where another node gets it, too, only that one knows how it ends. */
  private void arrive(GateEvent<M> event, InboundMessage message) {
    var wire = message.wire();
    reception.underWay().arrived(message);
    boolean room = waiting.incrementAndGet() <= MOST_WAITING & bytes.addAndGet(wire.body().length) <= MOST_BYTES;
    if (room && gate.sendMessage(event)) return;
    leave(message);
    if (alone) reception.refuse(wire, MOST_WAITING, false);
  }

  private void leave(InboundMessage message) {
    makeRoom(message.wire());
    reception.underWay().left(message);
  }

  private void makeRoom(WireMessage wire) {
    waiting.decrementAndGet();
    bytes.addAndGet(-wire.body().length);
  }

  // ---- for the steward

  void handed() {
    gate.sendMessage(new TransferEnd<>());
  }

  /** It is this node's own. */
  void open(Entities<String, M> entities, boolean handed) {
    gate.sendMessage(new OpenGate<>(entities, handed));
  }

  /**
   * {@return a later epoch of which a sender told, until the table says who owns the part, or 0}
   */
  long doubt() {
    return doubt;
  }

  /** Lets the entities handle what waits for them, and puts them away. */
  void give(Runnable given) {
    gate.sendMessage(new ReleaseGate<>(given));
  }

  void passTo(String node) {
    gate.sendMessage(new ForwardTo<>(node));
  }

  /** Before it is written, so that what the next node hands back comes first, and stays. */
  void takeBack() {
    gate.sendMessage(new ReclaimGate<>());
  }

  /** It is not this node's own after all. */
  void passOn() {
    gate.sendMessage(new ResumeForwarding<>());
  }

  /** After what has arrived. */
  void end(Runnable ended) {
    gate.sendMessage(new EndGate<>(ended));
  }

  /**
   * At once: others have this part. Waiting messages are not answered; the steward ends the
   * entities.
   */
  void drop() {
    alone = false;
    gate.kill();
  }

  // ---- the gate

  private void handle(GateEvent<M> event, ActorContext<GateEvent<M>> context) {
    switch (event) {
      case DirectMessage<M> direct -> {
        if (!isNew(direct.message)) break;
        doubt(Route.epoch(direct.message.wire()));
        take(direct.message);
      }
      case ForwardedMessage<M> passed -> {
        if (isTooLate(passed.message) || !isNew(passed.message)) break;
        if (stage == GateStage.HOLDING) handed.add(passed.message);
        else take(passed.message);
      }
      case TransferEnd<M> all -> {
        hasAll = true;
        begin();
      }
      case OpenGate<M> open -> {
        entities = Optional.of(open.entities);
        stage = GateStage.HOLDING;
        hasAll |= open.handed;
        begin();
      }
      case ReleaseGate<M> give -> {
        giving = Optional.of(give);
        giveAway();
      }
      case ForwardTo<M> to -> {
        next = to.node;
        stage = GateStage.PASSING;
        while (!held.isEmpty()) take(held.poll());
        hand(Optional.empty());
      }
      case ReclaimGate<M> back -> {
        if (stage == GateStage.PASSING) stage = GateStage.HOLDING;
      }
      case ResumeForwarding<M> on -> goOnPassing();
      case GateDrained<M> over -> {
        while (!held.isEmpty()) refuse(held.poll()); // no next owner takes them
        context.self().sendPoisonPill();
        over.ended.run();
      }
      case EndGate<M> end -> {
        goOnPassing();
        arrivals.close(); // after messages that were sent to this node, which are passed on, too
        context.self().sendMessage(new GateDrained<>(end.ended));
      }
    }
  }

  /**
   * The sender knows of a later owner. The clocks of this node may have stopped with its machine,
   * so it holds what comes until the steward has asked the table, or has just written to it.
   */
  private void doubt(long epoch) {
    if (stage != GateStage.OPEN && stage != GateStage.HOLDING || !isLater(epoch)) return;
    stage = GateStage.HOLDING;
    alone = false;
    doubt = Math.max(doubt, epoch);
  }

  private boolean isLater(long epoch) {
    return epoch > reception.epoch().getAsLong();
  }

  private void begin() {
    if (stage != GateStage.HOLDING || entities.isEmpty() || !hasAll || isLater(doubt)) return;
    stage = GateStage.OPEN;
    forgetAt = clock.nanoTime() + REMEMBERED.toNanos();
    takeAll();
    alone = true;
    giveAway();
  }

  /**
   * Gives the part away only after it has begun, so each owner hears of the next one, and passes
   * messages on to that one.
   */
  private void giveAway() {
    if (stage != GateStage.OPEN || giving.isEmpty()) return;
    putAway();
    stage = GateStage.GIVEN;
    alone = false;
    hasAll = false;
    giving.get().given.run();
    giving = Optional.empty();
  }

  private void goOnPassing() {
    if (stage != GateStage.HOLDING || next.isEmpty()) return;
    stage = GateStage.PASSING;
    takeAll();
  }

  /** First what the node before has held, then what came here meanwhile. */
  private void takeAll() {
    while (!handed.isEmpty()) take(handed.poll());
    while (!held.isEmpty()) take(held.poll());
  }

  private void take(InboundMessage message) {
    switch (stage) {
      case HOLDING, GIVEN -> held.add(message);
      case PASSING -> {
        leave(message);
        message.wire().header(Route.ID).ifPresent(seen::remove); // it may come back
        message.now(clock).ifPresent(wire -> hand(Optional.of(wire)));
      }
      default -> {
        makeRoom(message.wire());
        message.now(clock).ifPresent(this::give); // may wait for room in a mailbox
        reception.underWay().left(message);
      }
    }
  }

  private void refuse(InboundMessage message) {
    leave(message);
    reception.refuse(message.wire(), MOST_WAITING, true);
  }

  /** Where this node was given up, another one may have handled it, and the next cannot know. */
  private void hand(Optional<WireMessage> wire) {
    if (!reception.mayAnswer().getAsBoolean()) return;
    try {
      hands.accept(new TransferMessage(next, wire));
    } catch (RuntimeException lost) { // the next owner continues without it
      LoggerFactory.getLogger(Cluster.class).warn("node '{}' does not get a message that was held for it", next, lost);
    }
  }

  private void give(WireMessage wire) {
    if (!reception.mayAnswer().getAsBoolean()) return;
    if (InboundDispatcher.areTells(wire)) {
      reception.giveAll(wire, SharedStoreAccess::asReceived,
          key -> key.filter(keys).map(one -> entities.orElseThrow().actor(one)));
      return;
    }
    var key = wire.header(Route.KEY).filter(keys);
    if (key.isEmpty()) return; // of a foreign program
    if (wire.header(Route.LOOK).isPresent()) {
      look.accept(key.get());
      return;
    }
    var message = reception.read(wire);
    if (message.isPresent()) reception.give(wire, message.get(),
        () -> SharedStoreAccess.asReceived(entities.orElseThrow().actor(key.get()), wire.body()));
  }

  /** It may have been handled here, and been forgotten. */
  private boolean isTooLate(InboundMessage message) {
    if (stage == GateStage.HOLDING || clock.nanoTime() - forgetAt < 0) return false;
    leave(message);
    return true;
  }

  /** It is not here, nor was handled here. */
  private boolean isNew(InboundMessage message) {
    if (stage == GateStage.OPEN && clock.nanoTime() - forgetAt >= 0) {
      if (!seen.isEmpty()) seen.clear();
      return true;
    }
    boolean first = message.wire().header(Route.ID).map(seen::add).orElse(true);
    if (!first) leave(message);
    return first;
  }

  private void putAway() {
    entities.ifPresent(all -> {
      all.sendPoisonPill();
      if (all.waitForExit(DRAINING)) return;
      all.kill();
      all.waitForExit(KILLING);
    });
    entities = Optional.empty();
  }
}
