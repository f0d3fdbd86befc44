package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.Done;
import io.fibry.Request;
import io.fibry.cluster.Cluster.Member;
import io.fibry.cluster.PartitionState.PartitionStage;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.pool.Entities;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The parts of a kind at this node, and their hand-over between nodes.
 *
 * <p>All nodes compute the same wished owner of each part. The actual owner is an entry of the
 * table, its right, which is changed by compare-and-set, and ends with the owner's lease. An actor,
 * the steward, brings the rights of this node in line with the wishes. A {@link PartitionState} is
 * the steward's view of one part, and a {@link PartitionGate} holds or handles its messages.
 *
 * <p><b>States</b> of a slot, in the order of a hand-over from node a to node b:
 *
 * <pre>
 *   at a                                          at b
 *   OWNED    handles messages                     AWAY    does not listen
 *   GIVING   its entities handle the rest, end
 *   GIVEN    holds new messages, freed the right
 *                                                 AWAY    listens, holds, writes its right
 *                                                 OWNED   waits for the messages that a held
 *   PASSING  passes messages on, for a while
 *   AWAY     does not listen                      OWNED   handles them, then its own
 * </pre>
 *
 * <p><b>No message is lost,</b> because b listens before it writes its right, and a listens until
 * it has passed messages on for a while. <b>None is handled twice,</b> because both nodes get the
 * messages of that time, and b recognizes duplicates by their ids. A right names the version that
 * it replaced: so a passes the held messages to the next owner, or drops the part if several nodes
 * owned it meanwhile. A node that loses its lease drops its parts.
 *
 * <p>Fields without a remark belong to the steward's thread.
 */
final class PartitionCoordinator<M> {
  private static final Logger LOG = LoggerFactory.getLogger(Cluster.class);
  private static final Duration PATIENCE = Duration.ofSeconds(5); // with the node before
  private static final Duration SETTLING = Duration.ofSeconds(10);
  private static final Duration ENDING = Duration.ofSeconds(2); // of the steward
  private static final Duration TICK = Duration.ofMillis(500);
  private static final Duration LOOKING = Duration.ofMinutes(1); // from one look at the store to the next
  private static final int AT_ONCE = 8; // an eighth of the parts moves at once
  static final String PART = "Fb-Part"; // of what one node hands to the next
  static final String ALL = "Fb-All"; // was handed

  private sealed interface PartitionEvent {}

  private record MembershipUpdate(List<Member> all) implements PartitionEvent {}

  private record OwnershipUpdate(ClusterTransport.Entry entry) implements PartitionEvent {}

  private record PartitionReleased(int number, PartitionGate<?> part) implements PartitionEvent {}

  private record PartitionEnded(int number, PartitionGate<?> part) implements PartitionEvent {}

  private record PartitionTick() implements PartitionEvent {}

  private record LeaseLapsed() implements PartitionEvent {}

  private record ReleaseAll() implements PartitionEvent, Request<ReleaseAll, Done> {}

  private record SettleRequest() implements PartitionEvent, Request<SettleRequest, Done> {}

  private final NodeContext around;
  private final String kind;
  private final Protocol<M> protocol;
  private final EntityFactory<M> birth;
  private final AtomicReferenceArray<PartitionGate<M>> parts; // null if there is none; read by all threads
  private final AtomicReferenceArray<Entities<String, M>> entities; // null if there are none; read by all threads
  private final Actor<PartitionEvent> steward;
  private final List<PartitionState> slots;
  private List<Member> members = List.of();
  private long calmAt;
  private long lookAt;
  private Optional<CompletableFuture<Done>> settled = Optional.empty(); // for callers that wait for that
  private Optional<CompletableFuture<Done>> left = Optional.empty(); // this node gives all away

  PartitionCoordinator(NodeContext around, String kind, int parts, Protocol<M> protocol, EntityFactory<M> birth) {
    this.around = around;
    this.kind = kind;
    this.protocol = protocol;
    this.birth = birth;
    this.parts = new AtomicReferenceArray<>(parts);
    this.entities = new AtomicReferenceArray<>(parts);
    this.slots = IntStream.range(0, parts).mapToObj(i -> new PartitionState(around, kind, i)).toList();
    this.calmAt = around.clock().nanoTime();
    this.lookAt = calmAt + LOOKING.toNanos();
    this.steward = around.own().newActor(this::handle);
  }

  /** When others can pass on what they have for this node. */
  void begin() {
    boolean begun = false;
    try {
      String keys = around.subjects().keysOfParts(kind);
      steward.closeOnExit(around.engine().watch(keys, entry -> steward.sendMessage(new OwnershipUpdate(entry))));
      steward.closeOnExit(around.membership().all().subscribe(all -> steward.sendMessage(new MembershipUpdate(all))));
      steward.closeOnExit(around.lease().onLapse(() -> steward.sendMessage(new LeaseLapsed())));
      steward.sendMessageEvery(new PartitionTick(), TICK);
      around.lease().host(kind, true);
      settle();
      begun = true;
    } finally {
      if (!begun) leaveAtOnce();
    }
  }

  /** Waits until each part has an owner, so that messages find one. */
  private void settle() {
    try {
      steward.sendMessageReturn(new SettleRequest()).orTimeout(SETTLING.toMillis(), TimeUnit.MILLISECONDS).join();
    } catch (RuntimeException late) {
      LOG.warn("not all parts of '{}' have an owner so far", kind, late);
    }
  }

  // ---- for all

  HostingStats extent() {
    var here = IntStream.range(0, entities.length()).mapToObj(entities::get).filter(Objects::nonNull).toList();
    return new HostingStats(slots.size(), here.size(), here.stream().mapToLong(Entities::size).sum());
  }

  /** Called on the engine's thread, with a message that the previous owner passes on. */
  void pass(int number, WireMessage wire) {
    if (number < 0 || number >= parts.length()) return;
    var part = parts.get(number);
    if (part == null) return;
    if (wire.header(ALL).isPresent()) part.handed();
    else part.pass(wire);
  }

  /** Gives all parts to others, and waits for that. */
  void leave(Duration limit) {
    try {
      around.lease().host(kind, false);
      steward.sendMessageReturn(new ReleaseAll()).orTimeout(limit.toMillis(), TimeUnit.MILLISECONDS).join();
    } catch (RuntimeException late) {
      LOG.warn("'{}' left before others had all of its parts", kind, late);
    } finally {
      drop();
      withdrawAll();
    }
  }

  private void leaveAtOnce() {
    drop();
    withdrawAll();
    try {
      around.lease().host(kind, false);
    } catch (RuntimeException cut) {
      LOG.warn("others may take this node for a home of '{}'", kind, cut);
    }
  }

  /** Drops the part at once, without telling another node. */
  void drop() {
    steward.kill();
    steward.waitForExit(ENDING);
    for (int i = 0; i < parts.length(); i++) drop(i);
  }

  /** After the steward: otherwise they would be this node's as long as it lives. */
  private void withdrawAll() {
    try {
      for (var slot : slots) if (slot.isOurs() || slot.isFreedByUs()) slot.delete();
    } catch (TransportException cut) {
      LOG.warn("parts of '{}' have no home until the lease of this node is over", kind, cut);
    }
  }

  // ---- what the steward hears

  private void handle(PartitionEvent event, ActorContext<PartitionEvent> context) {
    switch (event) {
      case MembershipUpdate come -> {
        members = come.all;
        calmAt = around.clock().nanoTime() + around.calm().toNanos();
        wishAnew();
      }
      case OwnershipUpdate changed -> learn(changed.entry);
      case PartitionReleased given -> {
        var slot = slots.get(given.number);
        if (parts.get(given.number) != given.part || slot.stage != PartitionStage.GIVING) break;
        slot.putAway = true;
        reconsider(slot);
      }
      case PartitionEnded ended -> {
        if (parts.get(ended.number) != ended.part) break;
        parts.set(ended.number, null);
        slots.get(ended.number).stage = PartitionStage.AWAY;
        reconsider(slots.get(ended.number));
      }
      case PartitionTick tick -> {
        slots.forEach(this::reconsider);
        lookAgain();
      }
      case LeaseLapsed lapsed -> slots.forEach(this::lose);
      case ReleaseAll leave -> {
        left = Optional.of(new CompletableFuture<>());
        context.replyWhen(leave, left.get());
        wishAnew();
      }
      case SettleRequest settle -> {
        settled = Optional.of(new CompletableFuture<>());
        context.replyWhen(settle, settled.get());
      }
    }
    if (settled.isPresent() && !members.isEmpty() && slots.stream().allMatch(PartitionState::isSettled)) {
      settled.get().complete(Done.DONE);
      settled = Optional.empty();
    }
    left.filter(one -> slots.stream().allMatch(slot -> slot.stage == PartitionStage.AWAY))
        .ifPresent(one -> one.complete(Done.DONE));
  }

  private void wishAnew() {
    var others = members.stream().filter(one -> left.isEmpty() || !one.name().equals(around.node())).toList();
    for (var slot : slots) slot.wish = PartitionAssignment.wish(kind, slot.number, others);
    slots.forEach(this::reconsider);
  }

  private void lookAgain() {
    if (around.clock().nanoTime() - lookAt < 0) return;
    lookAt = around.clock().nanoTime() + LOOKING.toNanos();
    birth.lookAgain();
  }

  private void learn(ClusterTransport.Entry entry) {
    int number = Integer.parseInt(entry.key().substring(around.subjects().keysOfParts(kind).length()));
    if (number >= slots.size()) return; // of a foreign program
    var slot = slots.get(number);
    if (!slot.learn(entry)) return;
    adapt(slot);
    reconsider(slot);
  }

  /** Adapts a slot to the table. */
  private void adapt(PartitionState slot) {
    switch (slot.stage) {
      case OWNED -> {
        if (!slot.isOurs()) lose(slot);
      }
      case GIVING -> {
        if (slot.isFreedByUs()) freed(slot);
        else if (!slot.isOurs()) lose(slot);
      }
      case GIVEN -> {
        if (slot.next().isPresent()) passTo(slot, slot.next().get());
        else if (!slot.isFreedByUs()) lose(slot); // several were home meanwhile, and may have handled what is held
      }
      case PASSING -> {
        if (!slot.isOurs()) parts.get(slot.number).passOn();
      }
      default -> {}
    }
  }

  // ---- what it does

  private void reconsider(PartitionState slot) {
    if (!around.lease().isValid()) return;
    try {
      bringInLine(slot);
    } catch (TransportException cut) {
      LOG.debug("part {} of '{}' waits for the network", slot.number, kind, cut);
    } catch (Throwable failure) {
      LOG.error("part {} of '{}' is tried again", slot.number, kind, failure);
    }
  }

  private void bringInLine(PartitionState slot) {
    boolean wished = slot.wish.filter(around.node()::equals).isPresent();
    boolean late = around.clock().nanoTime() - slot.until >= 0;
    if (slot.waits && late && (slot.stage == PartitionStage.OWNED || slot.stage == PartitionStage.GIVING)) {
      slot.waits = false;
      parts.get(slot.number).handed(); // the node before is too slow
    }
    if (slot.stage == PartitionStage.OWNED || slot.stage == PartitionStage.GIVING) settleDoubt(slot);
    switch (slot.stage) {
      case AWAY -> {
        if (wished || slot.isOurs()) take(slot);
        else if (parts.get(slot.number) != null) lose(slot);
      }
      case OWNED -> {
        if (!wished && mayMove()) give(slot);
      }
      case GIVING -> {
        if (slot.putAway) free(slot);
      }
      case GIVEN -> {
        if (slot.isTaken()) adapt(slot); // the next owner may be known for long enough now
        else if (slot.next().isPresent()) lose(slot); // it is gone, and may have handled what is held
        else if (wished) take(slot);
        else if (slot.wish.isEmpty() && (late || members.size() < 2) && slot.delete()) end(slot); // there is nobody
      }
      case PASSING -> {
        if (late) end(slot);
        else if (wished) take(slot);
      }
      case ENDING -> {}
    }
  }

  private void settleDoubt(PartitionState slot) {
    var part = parts.get(slot.number);
    if (part.doubt() <= slot.epoch) return;
    if (slot.confirms(part.doubt())) part.open(entities.get(slot.number), !slot.waits);
    else lose(slot);
  }

  private boolean mayMove() {
    if (left.isPresent()) return true;
    long moving =
        slots.stream().filter(one -> one.stage == PartitionStage.GIVING || one.stage == PartitionStage.GIVEN).count();
    long owned = slots.stream().filter(one -> one.stage == PartitionStage.OWNED).count();
    return around.clock().nanoTime() - calmAt >= 0 && moving < Math.max(1, owned / AT_ONCE);
  }

  /**
   * Listens first, so that nothing is lost between the two. If it is not known whether the part is
   * this node's own, the node continues to listen.
   */
  private void take(PartitionState slot) {
    if (slot.isTaken()) return;
    String life = around.lease().self().id();
    slot.beginMove();
    if (parts.get(slot.number) == null) hold(slot, life);
    else if (slot.stage != PartitionStage.AWAY) slot.waits = slot.isHanded();
    if (slot.stage == PartitionStage.PASSING) parts.get(slot.number).takeBack();
    if (!slot.isOurs() && !slot.write(false, life)) {
      slot.dropMove();
      if (slot.stage == PartitionStage.AWAY) lose(slot);
      else adapt(slot);
      return;
    }
    var own = birth.entities(slot.number); // it may fail, where the store is away
    slot.stage = PartitionStage.OWNED;
    slot.until = around.clock().nanoTime() + PATIENCE.toNanos();
    slot.epoch = slot.version;
    entities.set(slot.number, own);
    parts.get(slot.number).open(own, !slot.waits);
    slot.endMove("taken");
  }

  private void hold(PartitionState slot, String life) {
    slot.waits = slot.isHanded();
    var reception =
        new InboundDispatcher<>(around.engine(), kind, around.node() + "." + life, protocol, around.underWay(),
            slot.mayAnswer(life), () -> slot.epoch, around.how());
    parts.set(slot.number, PartitionGate.hold(around, around.subjects().ofPart(kind, slot.number), reception,
        key -> PartitionAssignment.part(key, slots.size()) == slot.number, birth::look,
        hand -> hand(slot.number, hand)));
  }

  private void give(PartitionState slot) {
    var part = parts.get(slot.number);
    slot.stage = PartitionStage.GIVING;
    slot.putAway = false;
    slot.beginMove();
    part.give(() -> steward.sendMessage(new PartitionReleased(slot.number, part)));
  }

  private void free(PartitionState slot) {
    if (slot.write(true, around.lease().self().id())) freed(slot);
    else adapt(slot);
  }

  private void freed(PartitionState slot) {
    slot.stage = PartitionStage.GIVEN;
    slot.freed = slot.version;
    slot.until = around.clock().nanoTime() + around.calm().toNanos(); // another node may be about to join
    entities.set(slot.number, null);
    reconsider(slot);
  }

  /** Waits until this node has known the next owner for a while: servers learn late of it. */
  private void passTo(PartitionState slot, Right next) {
    if (!around.membership().isKnownFor(around.calm(), next)) return;
    slot.stage = PartitionStage.PASSING;
    slot.until = around.clock().nanoTime() + around.calm().toNanos();
    parts.get(slot.number).passTo(next.node());
    slot.endMove("given to " + next.node());
  }

  /** On the gate's thread. */
  private void hand(int number, PartitionGate.TransferMessage hand) {
    around.engine().publish(hand.to(around.subjects().ofNode(hand.node()), kind + "." + number));
  }

  private void end(PartitionState slot) {
    var part = parts.get(slot.number);
    slot.stage = PartitionStage.ENDING;
    part.end(() -> steward.sendMessage(new PartitionEnded(slot.number, part)));
  }

  /** It is another node's, or nobody knows. */
  private void lose(PartitionState slot) {
    slot.losses++;
    if (slot.stage != PartitionStage.AWAY) slot.endMove("lost");
    slot.stage = PartitionStage.AWAY;
    drop(slot.number);
  }

  private void drop(int number) {
    var own = entities.getAndSet(number, null);
    if (own != null) own.kill();
    var part = parts.getAndSet(number, null);
    if (part != null) part.drop();
  }
}
