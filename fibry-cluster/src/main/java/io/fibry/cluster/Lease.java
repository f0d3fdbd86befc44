package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.AskTimeoutException;
import io.fibry.Done;
import io.fibry.Request;
import io.fibry.cluster.Cluster.Member;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.pubsub.Subscription;
import io.fibry.spi.BlockBuilder;
import io.fibry.text.Lines;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the entry of this node in the table, which tells other nodes that it is alive. Five
 * heartbeats in each lease renew the entry. A node declares itself dead two seconds before others
 * may do so. It measures this by two clocks, because a suspended machine stops one of them and an
 * administrator can set the other: the lease is over as soon as one of the clocks says so. A node
 * that has lapsed joins again, with another life. Only the actor that sends heartbeats uses fields
 * without a remark.
 *
 * <p>No clock of a server decides. A life goes through these states in the table:
 *
 * <pre>
 * entry          who writes it                      what others conclude
 * new version    its node, by compare-and-set       it lives for a lease, by their own clocks
 * over           its node, when it leaves           it is over: its node has stopped before
 * over           a node that saw no heartbeat for   it is over: a heartbeat would have needed the
 *                a lease, at the version it saw     version that was replaced
 * another life   its node, after it has lapsed      they wait for the lease of the former life
 * gone           the server, which cleans up        no heartbeat follows: they wait for a lease
 *                                                   from then on
 * </pre>
 *
 * <p>Why no two nodes own a part: a life counts its lease from before it sent its last confirmed
 * heartbeat. A node that writes that the life is over has seen this very heartbeat, and has then
 * waited for the whole lease. A node that finds the entry gone waits for a whole lease from then
 * on, since it may not have seen this heartbeat. After that no heartbeat of this life can be
 * confirmed, since a life whose entry is over or gone is never written again.
 */
final class Lease {
  private static final Logger LOG = LoggerFactory.getLogger(Cluster.class);
  private static final int MAX_ENDED_OFFERS = 64; // offers, whose ends others can read
  private static final Duration EXPIRY_MARGIN = Duration.ofSeconds(2);

  private sealed interface LeaseEvent {}

  private record HeartbeatTick() implements LeaseEvent {}

  private record HostKind(String kind, boolean now) implements LeaseEvent, Request<HostKind, Done> {}

  private record AddOffer(String name, Object address) implements LeaseEvent, Request<AddOffer, Done> {}

  private record RemoveOffer(String name, Object offer, String reason) implements LeaseEvent {}

  private record LeaveRequest() implements LeaseEvent, Request<LeaveRequest, Done> {}

  /** Until when it is believed, by both clocks. */
  private record LeaseLife(Member member, boolean begun, long nanos, long millis) {}

  private final ClusterTransport engine;
  private final String key;
  private final HeartbeatTracker lives;
  private final Duration time;
  private final Scheduler clock;
  private final InstantSource wall;
  private final List<Runnable> onExpired = new CopyOnWriteArrayList<>();
  private final Set<String> hosts = new TreeSet<>();
  private final Map<String, Object> offers = new TreeMap<>(); // by name
  private final Map<String, String> endedOffers = new LinkedHashMap<>(); // offers: why
  private volatile LeaseLife life; // written by that actor, or before it begins
  private OptionalLong version; // empty: it has lapsed
  private String joiningId; // id of the life that it begins; perhaps in the table already
  private boolean hasLeft; // for good
  private Actor<LeaseEvent> heartbeatActor; // written before others know this object

  private Lease(ClusterTransport engine, Subjects subjects, Cluster.Options options, Scheduler clock,
      HeartbeatTracker lives) {
    this.engine = engine;
    this.lives = lives;
    this.key = subjects.keyOfNode(options.node());
    this.time = options.lease();
    this.clock = clock;
    this.wall = options.wallClock();
    this.joiningId = newId();
    this.life = new LeaseLife(member(options.node()), false, 0, 0);
    this.version = OptionalLong.empty();
  }

  private static String newId() {
    return UUID.randomUUID().toString();
  }

  static Lease begin(ActorScope scope, ClusterTransport engine, Subjects subjects, Cluster.Options options,
      HeartbeatTracker lives) {
    var lease = new Lease(engine, subjects, options, BlockBuilder.of(scope.anonymous()).scheduler(), lives);
    lease.join(scope, subjects.app());
    boolean begun = false;
    try {
      lease.heartbeatActor = NodeContext.newInternalBuilder(scope).newActor(lease::handle);
      lease.heartbeatActor.sendMessageEvery(new HeartbeatTick(), options.lease().dividedBy(5));
      begun = true;
      return lease;
    } finally {
      if (!begun) lease.delete(); // otherwise others would take this node for alive until its lease expires
    }
  }

  /**
   * Creates the entry of this node, and waits if another entry has its name. If the node of that
   * entry is alive, its next sign changes the entry, and this method throws. If its process was
   * killed, this method ends its life after a whole lease. The network may be away during the wait,
   * but for no longer than a lease: a server may have died together with the node.
   */
  private void join(ActorScope scope, String app) {
    if (create()) return;
    var before = engine.get(key);
    before.ifPresent(entry -> {
      LOG.info("app '{}' still has a node '{}'{}; this one joins when the lease of that node expires", app,
          self().name(), since(entry));
      State.of(entry).ifPresent(lives::onEntry);
    });
    long seen = clock.nanoTime(); // the entry of the node before
    for (long heard = seen;;) try {
      pause(scope, app);
      if (create()) return;
      var now = engine.get(key);
      heard = clock.nanoTime();
      if (now.isEmpty() || State.memberOf(now.get()).filter(this::isOurs).isPresent()) continue;
      if (before.isEmpty()) {
        before = now;
        seen = heard;
        State.of(now.get()).ifPresent(lives::onEntry);
      } else if (now.get().version() == before.get().version()) {
        if (heard - seen >= leaseOf(now.get()).toNanos()) endSilent(now.get());
      } else if (State.memberOf(now.get()).isPresent()) throw new IllegalStateException("a node '" + self().name()
          + "' of app '" + app + "' is alive" + since(now.get()) + "; give this one another name");
    } catch (TransportException cut) { // the entry may exist; then the next pass finds and replaces it
      if (clock.nanoTime() - heard > time.toNanos()) throw cut;
    }
  }

  private Duration leaseOf(ClusterTransport.Entry entry) {
    return State.of(entry).flatMap(State::lease).orElse(time);
  }

  /** It gave no sign for a whole lease. */
  private void endSilent(ClusterTransport.Entry entry) {
    var state = State.of(entry);
    if (state.isEmpty()) engine.delete(key, entry.version()); // of a foreign program
    else state.get().end(engine, key, entry.version(), "its process was started again");
  }

  private boolean isOurs(Member member) {
    return member.id().equals(self().id()) || member.id().equals(joiningId);
  }

  private static String since(ClusterTransport.Entry entry) {
    return State.memberOf(entry).map(one -> ", since " + one.since()).orElse("");
  }

  private void pause(ActorScope scope, String app) {
    try {
      clock.sleepUntil(clock.nanoTime() + time.dividedBy(20).toNanos());
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw notJoined(app, "its thread was interrupted");
    }
    if (scope.isClosed()) throw notJoined(app, "its scope was closed");
  }

  private IllegalStateException notJoined(String app, String why) {
    return new IllegalStateException("node '" + self().name() + "' of app '" + app
        + "' did not join, because " + why + " while it waited for the lease of the node before to expire");
  }

  /**
   * {@return whether the entry was written; if false, the table has an entry of another node that
   * may be alive}
   */
  private boolean create() {
    var member = member(self().name());
    return writeAndLive(member, () -> {
      var created = engine.create(key, bytes(member), State.retention(time));
      return created.isPresent() ? created : replace(member);
    });
  }

  /** Replaces a life that is over, or what the network has of a life of this node. */
  private OptionalLong replace(Member member) {
    var entry = engine.get(key);
    var before = entry.flatMap(State::of);
    if (before.isEmpty() || !before.get().isOver() && !isOurs(before.get().member())) return OptionalLong.empty();
    if (before.get().isOver() && before.get().member().id().equals(member.id())) {
      joiningId = newId(); // others have ended this life before it could begin
      return OptionalLong.empty();
    }
    return engine.update(key, bytes(member), entry.get().version(), State.retention(time));
  }

  private Member member(String node) {
    return new Member(node, joiningId, Set.copyOf(hosts), Set.copyOf(offers.keySet()), wall.instant());
  }

  private byte[] bytes(Member member) {
    return new State(member, new LinkedHashMap<>(endedOffers), Optional.of(time), Optional.empty()).bytes();
  }

  // ---- read by all

  Member self() {
    return life.member;
  }

  /** Others have not given this node up. */
  boolean isValid() {
    return isValid(life);
  }

  /** Whether the lease is valid, and the node has had no other life since. */
  boolean isValid(String id) {
    var now = life;
    return now.member.id().equals(id) && isValid(now);
  }

  private boolean isValid(LeaseLife now) {
    return now.begun && clock.nanoTime() - now.nanos < 0 && wall.millis() < now.millis;
  }

  /** Runs code, which must not wait, each time that this node has been given up. */
  Subscription onExpired(Runnable told) {
    onExpired.add(told);
    return () -> onExpired.remove(told);
  }

  /** Tells the others which kinds this node hosts; returns when they can know. */
  void host(String kind, boolean now) {
    heartbeatActor.ask(new HostKind(kind, now));
  }

  /** Tells the others that this node offers an actor; returns when they can know. */
  void offer(String name, Object offer) {
    heartbeatActor.ask(new AddOffer(name, offer));
  }

  /** Tells the others that an offer has ended. By then the name may be offered again. */
  void endOffer(String name, Object offer, String why) {
    heartbeatActor.sendMessage(new RemoveOffer(name, offer, why));
  }

  /** Tells the others that this node is gone; if that takes too long, the end of its lease does. */
  void endLease() {
    try {
      heartbeatActor.ask(new LeaveRequest());
    } catch (AskTimeoutException late) {
      LOG.warn("node '{}' leaves without a word: {}", self().name(),
          Lines.message(late));
    }
    heartbeatActor.close();
  }

  // ---- signs

  private void handle(LeaseEvent event, ActorContext<LeaseEvent> context) {
    switch (event) {
      case HeartbeatTick sign -> renew();
      case HostKind host -> {
        if (host.now) hosts.add(host.kind);
        else hosts.remove(host.kind);
        renew();
        context.reply(host, Done.DONE);
      }
      case AddOffer offered -> {
        offers.put(offered.name, offered.address);
        endedOffers.remove(offered.name);
        renew();
        context.reply(offered, Done.DONE);
      }
      case RemoveOffer end -> {
        if (!offers.remove(end.name, end.offer)) break;
        endedOffers.put(end.name, end.reason);
        if (endedOffers.size() > MAX_ENDED_OFFERS) endedOffers.remove(endedOffers.keySet().iterator().next());
        renew();
      }
      case LeaveRequest leave -> {
        delete();
        context.reply(leave, Done.DONE);
      }
    }
  }

  private void renew() {
    if (hasLeft) return;
    try {
      if (version.isPresent() && !isValid()) expire("its lease ran out before a heartbeat was confirmed");
      if (version.isEmpty()) rejoin();
      else if (!update() && isStillOurs()) update();
    } catch (TransportException cut) {
      LOG.warn("node '{}' could not send a heartbeat: {}", self().name(),
          Lines.message(cut));
    }
  }

  /**
   * Returns false if the entry has another version, perhaps the version of a heartbeat whose answer
   * was lost.
   */
  private boolean update() {
    var member = new Member(self().name(), self().id(), Set.copyOf(hosts), Set.copyOf(offers.keySet()),
        self().since());
    return writeAndLive(member, () -> sendHeartbeat(member));
  }

  private OptionalLong sendHeartbeat(Member member) {
    var recorded = ClusterEvents.beginSign();
    try {
      var next = engine.update(key, bytes(member), version.getAsLong(), State.retention(time));
      ClusterEvents.endSign(recorded, member.name(), null);
      return next;
    } catch (TransportException cut) {
      ClusterEvents.endSign(recorded, member.name(), cut);
      throw cut;
    }
  }

  /**
   * Writes the entry, and lives from the moment before: the network counts from when it has got the
   * sign, which is later. Returns false if the entry was not written.
   */
  private boolean writeAndLive(Member member, Supplier<OptionalLong> writing) {
    long nanos = clock.nanoTime();
    long millis = wall.millis();
    var written = writing.get();
    if (written.isEmpty()) return false;
    version = written;
    var ours = time.minus(EXPIRY_MARGIN);
    life = new LeaseLife(member, true, nanos + ours.toNanos(), millis + ours.toMillis());
    return true;
  }

  /**
   * An entry that is gone is not written again with this life: others may be about to take its
   * parts.
   */
  private boolean isStillOurs() {
    var entry = engine.get(key);
    boolean ours = entry.flatMap(State::memberOf).filter(this::isOurs).isPresent();
    if (ours) version = OptionalLong.of(entry.get().version());
    else expire(entry.flatMap(State::of).flatMap(State::over).orElse("other nodes declared it dead"));
    return ours;
  }

  private void expire(String why) {
    LOG.warn("node '{}' has lapsed: {}; it joins again", self().name(), why);
    ClusterEvents.lapse(self().name(), why);
    endOwnLife();
    joiningId = newId();
    onExpired.forEach(Runnable::run);
  }

  /** Before others may know that this life is over. */
  private void endOwnLife() {
    version = OptionalLong.empty();
    life = new LeaseLife(life.member, false, 0, 0);
    lives.onLifeEnded(life.member.id());
  }

  private void rejoin() {
    if (!create()) LOG.error("node '{}' cannot join again: another one has its name", self().name());
  }

  /** Ends this life. Called by the actor that sends heartbeats, or when this actor has ended. */
  void delete() {
    hasLeft = true;
    var last = version;
    endOwnLife();
    try {
      if (last.isPresent()) new State(self(), Map.of(), Optional.of(time), Optional.empty()).end(engine, key,
          last.getAsLong(), "it left");
    } catch (TransportException cut) {
      LOG.debug("node '{}' left without a word", self().name(), cut);
    }
  }
}
