package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.Done;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.cluster.Cluster.Member;
import io.fibry.codec.Codec;
import io.fibry.pool.Entities;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;
import org.slf4j.LoggerFactory;

/**
 * The parts of a kind that are this node's own. All nodes compute the same node for each part: that
 * is a wish. A right is an entry of the table, which its owner gives back, or loses with its lease.
 * An actor, the steward, brings rights in line with wishes; fields without a remark are of its
 * thread.
 */
final class Hosting<M> {
  private static final Codec<Right> RIGHT = Codec.of(Right.class);
  private static final Duration PATIENCE = Duration.ofSeconds(5); // with the node before
  private static final Duration SETTLING = Duration.ofSeconds(10);
  private static final Duration TICK = Duration.ofMillis(500);
  private static final int AT_ONCE = 8; // an eighth of the parts moves at once
  static final String PART = "Fb-Part"; // of what one node hands to the next
  static final String ALL = "Fb-All"; // was handed

  /**
   * Of a part: to whom it belongs; or, if it is free, to whom it belonged.
   *
   * @param after the version of the entry before
   */
  private record Right(String node, String life, boolean free, long after) {}

  /** What is at home here. */
  interface Birth<M> {

    Entities<String, M> entities(int part);

    /** Something waits at the store for an actor. */
    default void look(String key) {}
  }

  private enum Stage {
    AWAY, OWNED, GIVING, GIVEN, PASSING, ENDING
  }

  private static final class Slot {
    private Stage stage = Stage.AWAY;
    private Optional<Right> right = Optional.empty(); // as far as is known
    private long version; // of it
    private long freed; // version of the entry by which this node gave the part away
    private Optional<String> wish = Optional.empty();
    private boolean putAway; // its entities; the table is to be told
    private boolean waits; // for what the node before hands
    private long until; // of passing on, or of waiting for what is handed
  }

  private sealed interface Event {}

  private record Members(List<Member> all) implements Event {}

  private record Changed(Engine.Entry entry) implements Event {}

  private record Given(int part) implements Event {}

  private record Ended(int part) implements Event {}

  private record Tick() implements Event {}

  private record Lapsed() implements Event {}

  private record Leave() implements Event, Request<Leave, Done> {}

  private record Settle() implements Event, Request<Settle, Done> {}

  private record Count() implements Event, Request<Count, Integer> {}

  private final Surroundings around;
  private final String kind;
  private final Reception<M> reception;
  private final Birth<M> birth;
  private final AtomicReferenceArray<Part<M>> parts; // null: none; read by all
  private final AtomicReferenceArray<Entities<String, M>> entities; // null: none; read by all
  private final Actor<Event> steward;
  private final List<Slot> slots;
  private List<Member> members = List.of();
  private long calmAt;
  private Optional<CompletableFuture<Done>> settled = Optional.empty(); // somebody waits for that
  private Optional<CompletableFuture<Done>> left = Optional.empty(); // this node gives all away

  private Hosting(Surroundings around, String kind, int parts, Reception<M> reception,
      Birth<M> birth) {
    this.around = around;
    this.kind = kind;
    this.reception = reception;
    this.birth = birth;
    this.parts = new AtomicReferenceArray<>(parts);
    this.entities = new AtomicReferenceArray<>(parts);
    this.slots = IntStream.range(0, parts).mapToObj(i -> new Slot()).toList();
    this.calmAt = around.clock().nanoTime();
    this.steward = around.scope().anonymous().onFailure(FailurePolicy.goOn()).newActor(this::handle);
  }

  static <M> Hosting<M> begin(Surroundings around, String kind, int parts, Protocol<M> protocol,
      Birth<M> birth) {
    var reception = new Reception<>(around.engine(), kind, protocol, around.lease()::isValid);
    var hosting = new Hosting<M>(around, kind, parts, reception, birth);
    boolean begun = false;
    try {
      hosting.listen();
      around.lease().host(kind, true);
      hosting.settle();
      begun = true;
      return hosting;
    } finally {
      if (!begun) hosting.drop();
    }
  }

  /** Waits until each part has an owner, so that messages find one. */
  private void settle() {
    try {
      steward.sendMessageReturn(new Settle()).orTimeout(SETTLING.toMillis(), TimeUnit.MILLISECONDS).join();
    } catch (RuntimeException late) {
      LoggerFactory.getLogger(Cluster.class).warn("not all parts of '{}' have an owner so far", kind, late);
    }
  }

  private void listen() {
    String keys = around.subjects().keysOfParts(kind);
    steward.closeOnExit(around.engine().watch(keys, entry -> steward.sendMessage(new Changed(entry))));
    steward.closeOnExit(around.membership().all().subscribe(all -> steward.sendMessage(new Members(all))));
    around.lease().onLapse(() -> steward.sendMessage(new Lapsed()));
    steward.sendMessageEvery(new Tick(), TICK);
  }

  // ---- for all

  /** How many parts are this node's own. */
  int owned() {
    return steward.ask(new Count());
  }

  long size() {
    long size = 0;
    for (int i = 0; i < entities.length(); i++) {
      var some = entities.get(i);
      if (some != null) size += some.size();
    }
    return size;
  }

  /** From the node before, on the engine's thread. */
  void pass(int number, Wire wire) {
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
      steward.sendMessageReturn(new Leave()).orTimeout(limit.toMillis(), TimeUnit.MILLISECONDS).join();
    } catch (RuntimeException late) {
      LoggerFactory.getLogger(Cluster.class).warn("'{}' left before others had all of its parts", kind, late);
    } finally {
      drop();
    }
  }

  /** At once: nobody else is told, and waits for the lease. */
  void drop() {
    steward.kill();
    for (int i = 0; i < parts.length(); i++) {
      var part = parts.getAndSet(i, null);
      if (part != null) part.drop();
    }
  }

  // ---- what the steward hears

  private void handle(Event event, ActorContext<Event> context) {
    switch (event) {
      case Members come -> {
        members = come.all;
        calmAt = around.clock().nanoTime() + around.calm().toNanos();
        wishAnew();
      }
      case Changed changed -> learn(changed.entry);
      case Given given -> {
        slots.get(given.part).putAway = true;
        reconsider(given.part);
      }
      case Ended ended -> {
        forget(ended.part);
        reconsider(ended.part);
      }
      case Tick tick -> reconsiderAll();
      case Lapsed lapsed -> {
        for (int i = 0; i < slots.size(); i++) lose(i);
      }
      case Leave leave -> {
        left = Optional.of(new CompletableFuture<>());
        context.replyWhen(leave, left.get());
        wishAnew();
      }
      case Settle settle -> {
        settled = Optional.of(new CompletableFuture<>());
        context.replyWhen(settle, settled.get());
      }
      case Count count -> context.reply(count, (int) slots.stream().filter(one -> one.stage == Stage.OWNED).count());
    }
    settled.filter(one -> !members.isEmpty() && slots.stream().allMatch(this::isSettled))
        .ifPresent(one -> one.complete(Done.DONE));
    left.filter(one -> slots.stream().allMatch(slot -> slot.stage == Stage.AWAY))
        .ifPresent(one -> one.complete(Done.DONE));
  }

  private boolean isSettled(Slot slot) {
    return slot.right.filter(one -> !one.free && (isOurs(one) || isListed(one))).isPresent();
  }

  private boolean isListed(Right right) {
    return members.stream().anyMatch(one -> one.name().equals(right.node) && one.id().equals(right.life));
  }

  private void wishAnew() {
    String me = around.node();
    var others = left.isEmpty() ? members : members.stream().filter(one -> !one.name().equals(me)).toList();
    for (int i = 0; i < slots.size(); i++) slots.get(i).wish = Keys.wish(kind, i, others);
    reconsiderAll();
  }

  private void reconsiderAll() {
    for (int i = 0; i < slots.size(); i++) reconsider(i);
  }

  private void learn(Engine.Entry entry) {
    int number = Integer.parseInt(entry.key().substring(around.subjects().keysOfParts(kind).length()));
    if (number >= slots.size()) return; // refused elsewhere
    var slot = slots.get(number);
    if (entry.version() <= slot.version) return;
    slot.version = entry.version();
    slot.right = entry.value().map(RIGHT::decode);
    switch (slot.stage) {
      case OWNED -> {
        if (!slot.right.filter(this::isOurs).isPresent()) lose(number);
      }
      case GIVING -> {
        if (slot.right.filter(this::isOurs).isPresent()) break;
        if (slot.right.filter(one -> one.free && isOfThisLife(one)).isPresent()) freed(number);
        else lose(number);
      }
      case GIVEN -> {
        var next = slot.right.filter(one -> !one.free && one.after == slot.freed);
        if (next.isPresent()) passTo(number, next.get().node);
        else if (slot.right.filter(this::isOfThisLife).isEmpty()) lose(number); // several were home meanwhile
      }
      default -> {}
    }
    reconsider(number);
  }

  private boolean isOurs(Right right) {
    return !right.free && isOfThisLife(right);
  }

  private boolean isOfThisLife(Right right) {
    var self = around.lease().self();
    return right.node.equals(self.name()) && right.life.equals(self.id());
  }

  // ---- what it does

  private void reconsider(int number) {
    if (!around.lease().isValid()) return;
    var slot = slots.get(number);
    boolean wished = slot.wish.filter(around.node()::equals).isPresent();
    try {
      switch (slot.stage) {
        case AWAY -> {
          if (wished) take(number);
        }
        case OWNED -> {
          if (slot.waits && around.clock().nanoTime() - slot.until >= 0) {
            slot.waits = false;
            parts.get(number).handed(); // the node before is too slow
          }
          if (!wished && mayMove()) give(number);
        }
        case GIVING -> {
          if (slot.putAway) free(number);
        }
        case GIVEN -> {
          if (wished) take(number);
          else if (slot.wish.isEmpty()) withdraw(number);
        }
        case PASSING -> {
          if (wished) take(number);
          else if (around.clock().nanoTime() - slot.until >= 0) end(number);
        }
        default -> {}
      }
    } catch (LostException cut) {
      LoggerFactory.getLogger(Cluster.class).debug("part {} of '{}' waits for the network", number, kind, cut);
    }
  }

  private boolean mayMove() {
    if (left.isPresent()) return true;
    long moving = slots.stream().filter(one -> one.stage == Stage.GIVING || one.stage == Stage.GIVEN).count();
    long owned = slots.stream().filter(one -> one.stage == Stage.OWNED).count();
    return around.clock().nanoTime() - calmAt >= 0 && moving < Math.max(1, owned / AT_ONCE);
  }

  /** Listens first, so that nothing is lost between the two. */
  private void take(int number) {
    var slot = slots.get(number);
    if (slot.right.filter(one -> !one.free && !isOurs(one)).filter(this::isAlive).isPresent()) return;
    boolean nobodyHands =
        slot.right.filter(one -> one.free && !isOfThisLife(one)).filter(this::isAlive).isEmpty();
    boolean fresh = parts.get(number) == null;
    boolean taken = false;
    if (fresh) parts.set(number, Part.hold(around, around.subjects().ofPart(kind, number), reception,
        birth::look, hand -> hand(number, hand)));
    try {
      taken = slot.right.filter(this::isOurs).isPresent() || write(number, false);
    } finally {
      if (!taken && fresh) lose(number);
    }
    if (!taken) return;
    slot.stage = Stage.OWNED;
    slot.waits = !nobodyHands;
    slot.until = around.clock().nanoTime() + PATIENCE.toNanos();
    var own = birth.entities(number);
    entities.set(number, own);
    parts.get(number).open(own, nobodyHands);
  }

  /** What the table says may be older than what the node says of itself. */
  private boolean isAlive(Right right) {
    return isListed(right) || around.engine().get(around.subjects().keyOfNode(right.node)).flatMap(Engine.Entry::value)
        .map(Lease.CODEC::decode).filter(one -> one.id().equals(right.life)).isPresent();
  }

  /** False: somebody else was faster. */
  private boolean write(int number, boolean free) {
    var slot = slots.get(number);
    var right = new Right(around.node(), around.lease().self().id(), free, slot.version);
    String key = around.subjects().keyOfPart(kind, number);
    var written = slot.right.isPresent()
        ? around.engine().update(key, RIGHT.encode(right), slot.version, Engine.FOR_EVER)
        : around.engine().create(key, RIGHT.encode(right), Engine.FOR_EVER);
    if (written.isEmpty()) around.engine().get(key)
        .ifPresent(entry -> steward.sendMessage(new Changed(entry))); // its news may be late
    else {
      slot.version = written.getAsLong();
      slot.right = Optional.of(right);
    }
    return written.isPresent();
  }

  private void give(int number) {
    slots.get(number).stage = Stage.GIVING;
    parts.get(number).give(() -> steward.sendMessage(new Given(number)));
  }

  private void free(int number) {
    if (write(number, true)) freed(number);
  }

  private void freed(int number) {
    var slot = slots.get(number);
    slot.stage = Stage.GIVEN;
    slot.freed = slot.version;
    slot.putAway = false;
    entities.set(number, null);
    reconsider(number);
  }

  private void passTo(int number, String node) {
    var slot = slots.get(number);
    slot.stage = Stage.PASSING;
    slot.until = around.clock().nanoTime() + around.calm().toNanos();
    parts.get(number).passTo(node);
  }

  /** On the gate's thread. */
  private void hand(int number, Part.Hand hand) {
    var headers = new HashMap<String, String>();
    hand.wire().ifPresent(wire -> headers.putAll(wire.headers()));
    headers.put(PART, kind + "." + number);
    if (hand.wire().isEmpty()) headers.put(ALL, "");
    var to = around.subjects().ofNode(hand.node());
    around.engine().publish(new Wire(to, hand.wire().flatMap(Wire::answerTo), headers,
        hand.wire().map(Wire::body).orElse(new byte[0])));
  }

  /** There is nobody to hand anything to, and the next owner need not wait for it. */
  private void withdraw(int number) {
    if (around.engine().delete(around.subjects().keyOfPart(kind, number), slots.get(number).version)) end(number);
  }

  private void end(int number) {
    slots.get(number).stage = Stage.ENDING;
    parts.get(number).end(() -> steward.sendMessage(new Ended(number)));
  }

  private void forget(int number) {
    var slot = slots.get(number);
    if (slot.stage != Stage.ENDING) return;
    slot.stage = Stage.AWAY;
    parts.set(number, null);
  }

  /** It is another node's, or nobody knows. */
  private void lose(int number) {
    var slot = slots.get(number);
    slot.stage = Stage.AWAY;
    slot.putAway = false;
    entities.set(number, null);
    var part = parts.getAndSet(number, null);
    if (part != null) part.drop();
  }
}
