package io.fibry.cluster.membership;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.Done;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.Cluster.Member;
import io.fibry.cluster.TransportException;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.wire.Subjects;
import io.fibry.pubsub.Subscription;
import io.fibry.spi.BlockBuilder;
import io.fibry.text.Lines;
import io.fibry.text.SafeLogger;
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

/**
 * Keeps the entry of this node in the table, by which other nodes know that this node is alive.
 * Five heartbeats in each lease renew the entry. A node declares itself dead two seconds before
 * others may do so. It measures this by two clocks, because a suspended machine stops one of them
 * and an administrator can set the other. The lease is over as soon as it has ended by either
 * clock. A node whose lease is over has lapsed: it joins again, with another life. Mutable fields
 * whose comments name no thread are used by the joining thread, then by the heartbeat actor only.
 *
 * <p>The clock of the server does not matter. A life goes through these states in the table:
 *
 * <pre>
 * entry          who changes it                     conclusion of other nodes
 * new version    its node, by compare-and-set       the life lasts a lease, by their own clocks
 * over           its node, when it leaves           the life is over: its node had stopped
 * over           a node that saw no heartbeat for   the life is over: a later heartbeat is
 *                a lease, by compare-and-set        refused, because the version has changed
 * another life   its node, after it has lapsed      they wait for the lease of the previous life
 * missing        the server, which cleans up        no heartbeat follows: they wait for a lease
 *                                                   from this moment on
 * </pre>
 *
 * <p>Two nodes never own a partition at the same time. A life counts its lease from the moment
 * before it sent its last confirmed heartbeat. A node that writes that the life is over has seen
 * this heartbeat, and has then waited for the whole lease. A node that finds no entry waits for a
 * whole lease from this moment on, because it may have missed this heartbeat. After that no
 * heartbeat of this life can be confirmed, because a life whose entry is over or missing is never
 * written again.
 */
public final class NodeLease {
  private static final Logger LOG = SafeLogger.of(Cluster.class);
  private static final int MAX_ENDED_OFFERS = 64; // ended offers whose reasons other nodes can read
  private static final Duration EXPIRY_MARGIN = Duration.ofSeconds(2);
  // limits waits for the heartbeat actor; the ask limit of the scope is for requests of users
  private static final Duration WRITE_LIMIT = Duration.ofSeconds(30);

  private sealed interface LeaseEvent {}

  private record HeartbeatTick() implements LeaseEvent {}

  private record HostKind(String kind, boolean isHosted) implements LeaseEvent, Request<HostKind, Done> {}

  private record AddOffer(String actorName, Object offer) implements LeaseEvent, Request<AddOffer, Done> {}

  private record RemoveOffer(String actorName, Object offer, String reason) implements LeaseEvent {}

  private record LeaveRequest() implements LeaseEvent, Request<LeaveRequest, Done> {}

  /** A life, whether it has begun and not ended, and when its lease ends by both clocks. */
  private record LeaseLife(Member member, boolean isBegun, long untilNanos, long untilMillis) {}

  private final ClusterTransport transport;
  private final String key;
  private final HeartbeatTracker heartbeats;
  private final Duration leaseTime;
  private final Scheduler clock;
  private final InstantSource wallClock;
  private final List<Runnable> onExpired = new CopyOnWriteArrayList<>();
  private final Set<String> hostedKinds = new TreeSet<>();
  private final Map<String, Object> offers = new TreeMap<>(); // by name
  private final Map<String, String> endedOffers = new LinkedHashMap<>(); // reasons by name, the oldest first
  private volatile LeaseLife life; // written by the heartbeat actor, or before it exists
  private OptionalLong version; // of the entry; empty while this node has no life
  private String joiningId; // id of the next life; the entry has it already if only the answer to a write was lost
  private boolean hasLeft; // the node does not join again
  private Actor<LeaseEvent> heartbeatActor; // written before other threads can reach this object

  private NodeLease(ClusterTransport transport, Subjects subjects, String node, Duration leaseTime,
      InstantSource wallClock, Scheduler clock, HeartbeatTracker heartbeats) {
    this.transport = transport;
    this.heartbeats = heartbeats;
    this.key = subjects.keyOfNode(node);
    this.leaseTime = leaseTime;
    this.clock = clock;
    this.wallClock = wallClock;
    this.joiningId = newId();
    this.life = new LeaseLife(member(node), false, 0, 0);
    this.version = OptionalLong.empty();
  }

  private static String newId() {
    return UUID.randomUUID().toString();
  }

  public static NodeLease begin(ActorScope scope, ClusterTransport transport, Subjects subjects, String node,
      Duration leaseTime, InstantSource wallClock, HeartbeatTracker heartbeats) {
    var lease = new NodeLease(transport, subjects, node, leaseTime, wallClock,
        BlockBuilder.of(scope.anonymous()).scheduler(), heartbeats);
    lease.join(scope, subjects.app());
    boolean begun = false;
    try {
      lease.heartbeatActor = InternalActors.newEventBuilder(scope).newActor(lease::handle);
      lease.heartbeatActor.sendMessageEvery(new HeartbeatTick(), leaseTime.dividedBy(5));
      begun = true;
      return lease;
    } finally {
      if (!begun) lease.endLife(); // so that the node does not count as alive until its lease expires
    }
  }

  /**
   * Creates the entry of this node, and waits if the table has an entry of the same name. If the
   * node of that entry is alive, its next heartbeat changes the entry, and this method throws. If
   * the entry does not change for a whole lease, its node was killed, and this method ends the life
   * of that node. The wait survives an outage of the network for up to a lease, because a server
   * may have crashed together with that node.
   */
  private void join(ActorScope scope, String app) {
    if (create()) return;
    var previousEntry = transport.get(key);
    previousEntry.ifPresent(entry -> {
      LOG.info("app '{}' still has a node '{}'{}; this node joins when the lease of that node expires", app,
          self().name(), since(entry));
      NodeState.of(entry).ifPresent(heartbeats::onEntry);
    });
    long previousReadAt = clock.nanoTime();
    for (long lastReadAt = previousReadAt;;) try {
      pause(scope, app);
      if (create()) return;
      var currentEntry = transport.get(key);
      lastReadAt = clock.nanoTime();
      if (currentEntry.isEmpty() || NodeState.memberOf(currentEntry.get()).filter(this::isOurs).isPresent()) continue;
      if (previousEntry.isPresent() && currentEntry.get().version() == previousEntry.get().version()) {
        if (lastReadAt - previousReadAt >= leaseOf(currentEntry.get()).toNanos()) endSilent(currentEntry.get());
      } else if (previousEntry.isPresent() && NodeState.memberOf(currentEntry.get()).isPresent()) {
        throw new IllegalStateException("a node '" + self().name() + "' of app '" + app + "' is alive"
            + since(currentEntry.get()) + "; give this node another name");
      } else {
        previousEntry = currentEntry;
        previousReadAt = lastReadAt;
        NodeState.of(currentEntry.get()).ifPresent(heartbeats::onEntry);
      }
    } catch (TransportException failure) { // if the failed write arrived, the next iteration replaces its entry
      if (clock.nanoTime() - lastReadAt > leaseTime.toNanos()) throw failure;
    }
  }

  private Duration leaseOf(ClusterTransport.Entry entry) {
    return NodeState.of(entry).flatMap(NodeState::lease).orElse(leaseTime);
  }

  /** Ends the life of an entry that has not changed for a whole lease. */
  private void endSilent(ClusterTransport.Entry entry) {
    var state = NodeState.of(entry);
    if (state.isEmpty()) transport.delete(key, entry.version()); // the entry does not belong to a node
    else state.get().end(transport, key, entry.version(), "its process was started again");
  }

  private boolean isOurs(Member member) {
    return member.id().equals(self().id()) || member.id().equals(joiningId);
  }

  private static String since(ClusterTransport.Entry entry) {
    return NodeState.memberOf(entry).map(member -> ", since " + member.since()).orElse("");
  }

  private void pause(ActorScope scope, String app) {
    try {
      clock.sleep(leaseTime.dividedBy(20));
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw notJoined(app, "its thread was interrupted");
    }
    if (scope.isClosed()) throw notJoined(app, "its scope was closed");
  }

  private IllegalStateException notJoined(String app, String reason) {
    return new IllegalStateException("node '" + self().name() + "' of app '" + app
        + "' did not join, because " + reason + " while it waited for the lease of the previous node to expire");
  }

  /**
   * {@return whether the entry was written; if false, the table had the entry of another node or
   * life, which may be alive}
   */
  private boolean create() {
    var member = member(self().name());
    return write(member, () -> {
      var version = transport.create(key, bytes(member), NodeState.retention(leaseTime));
      return version.isPresent() ? version : replace(member);
    });
  }

  /**
   * Replaces the entry if its life is over, or if it is a life of this node. Returns an empty value
   * if the entry was not replaced.
   */
  private OptionalLong replace(Member member) {
    var entry = transport.get(key);
    var previous = entry.flatMap(NodeState::of);
    if (previous.isEmpty() || !previous.get().isOver() && !isOurs(previous.get().member())) return OptionalLong.empty();
    if (previous.get().isOver() && previous.get().member().id().equals(member.id())) {
      joiningId = newId(); // another node has ended this life before it began
      return OptionalLong.empty();
    }
    return transport.update(key, bytes(member), entry.get().version(), NodeState.retention(leaseTime));
  }

  private Member member(String node) {
    return new Member(node, joiningId, Set.copyOf(hostedKinds), Set.copyOf(offers.keySet()), wallClock.instant());
  }

  private byte[] bytes(Member member) {
    return new NodeState(member, new LinkedHashMap<>(endedOffers), Optional.of(leaseTime), Optional.empty()).bytes();
  }

  // ---- called by any thread

  public Member self() {
    return life.member;
  }

  /** Returns whether the lease is valid, so that no other node has declared this node dead. */
  public boolean isValid() {
    return isValid(life);
  }

  /** Returns whether the lease is valid, and {@code id} is the current life. */
  public boolean isValid(String id) {
    var leaseLife = life;
    return leaseLife.member.id().equals(id) && isValid(leaseLife);
  }

  private boolean isValid(LeaseLife leaseLife) {
    return leaseLife.isBegun && clock.nanoTime() - leaseLife.untilNanos < 0
        && wallClock.millis() < leaseLife.untilMillis;
  }

  /**
   * Calls the callback each time that the lease has expired, on the thread of the actor that sends
   * heartbeats. The callback must not wait.
   */
  public Subscription onExpired(Runnable callback) {
    onExpired.add(callback);
    return () -> onExpired.remove(callback);
  }

  /** Writes whether this node hosts a kind. If the write fails, a later heartbeat writes it. */
  public void setHosted(String kind, boolean isHosted) {
    heartbeatActor.ask(new HostKind(kind, isHosted), WRITE_LIMIT);
  }

  /** Writes that this node offers an actor. If the write fails, a later heartbeat writes it. */
  public void addOffer(String name, Object offer) {
    heartbeatActor.ask(new AddOffer(name, offer), WRITE_LIMIT);
  }

  /** Writes that an offer has ended, unless the name was offered again meanwhile. */
  public void endOffer(String name, Object offer, String reason) {
    heartbeatActor.sendMessage(new RemoveOffer(name, offer, reason));
  }

  /**
   * Tells the other nodes that this node has left. If the write takes too long, other nodes notice
   * when the lease of this node expires. If the node's scope is closed, the caller has waited for
   * the end of the actor that sends heartbeats.
   */
  public void announceLeave() {
    if (heartbeatActor.onExit().isDone()) {
      if (!hasLeft) endLife();
      return;
    }
    try {
      heartbeatActor.ask(new LeaveRequest());
    } catch (RequestException failure) {
      LOG.warn("node '{}' leaves without notice: {}", self().name(), Lines.message(failure));
    }
    heartbeatActor.close();
  }

  // ---- heartbeats

  private void handle(LeaseEvent event, ActorContext<LeaseEvent> context) {
    switch (event) {
      case HeartbeatTick tick -> renew();
      case HostKind host -> {
        if (host.isHosted) hostedKinds.add(host.kind);
        else hostedKinds.remove(host.kind);
        renew();
        context.reply(host, Done.DONE);
      }
      case AddOffer add -> {
        offers.put(add.actorName, add.offer);
        endedOffers.remove(add.actorName);
        renew();
        context.reply(add, Done.DONE);
      }
      case RemoveOffer remove -> {
        if (!offers.remove(remove.actorName, remove.offer)) break;
        endedOffers.put(remove.actorName, remove.reason);
        if (endedOffers.size() > MAX_ENDED_OFFERS) endedOffers.remove(endedOffers.keySet().iterator().next());
        renew();
      }
      case LeaveRequest request -> {
        endLife();
        context.reply(request, Done.DONE);
      }
    }
  }

  private void renew() {
    if (hasLeft) return;
    try {
      if (version.isPresent() && !isValid()) expire("its lease ran out before a heartbeat was confirmed");
      if (version.isEmpty()) rejoin();
      else if (!update() && isStillOurs()) update();
    } catch (TransportException failure) {
      LOG.warn("node '{}' could not send a heartbeat: {}", self().name(), Lines.message(failure));
    }
  }

  /**
   * Sends a heartbeat. Returns false if the entry has another version, perhaps because an earlier
   * heartbeat arrived and its answer was lost.
   */
  private boolean update() {
    var member = new Member(self().name(), self().id(), Set.copyOf(hostedKinds), Set.copyOf(offers.keySet()),
        self().since());
    return write(member, () -> sendHeartbeat(member));
  }

  private OptionalLong sendHeartbeat(Member member) {
    var jfrEvent = ClusterEvents.beginHeartbeat();
    try {
      var next = transport.update(key, bytes(member), version.getAsLong(), NodeState.retention(leaseTime));
      ClusterEvents.endHeartbeat(jfrEvent, member.name(), next.isPresent() ? "confirmed" : "refused: entry changed");
      return next;
    } catch (TransportException failure) {
      ClusterEvents.endHeartbeat(jfrEvent, member.name(), Lines.message(failure));
      throw failure;
    }
  }

  /**
   * Writes the entry. If it was written, the lease begins at the moment before the write; other
   * nodes count it from the moment when they see the heartbeat, which is later.
   *
   * @return whether the entry was written
   */
  private boolean write(Member member, Supplier<OptionalLong> writer) {
    long nanos = clock.nanoTime();
    long millis = wallClock.millis();
    var newVersion = writer.get();
    if (newVersion.isEmpty()) return false;
    version = newVersion;
    var validTime = leaseTime.minus(EXPIRY_MARGIN);
    life = new LeaseLife(member, true, nanos + validTime.toNanos(), millis + validTime.toMillis());
    return true;
  }

  /**
   * Returns whether the entry still belongs to this life; if not, ends this life. A missing entry
   * is not written again, because other nodes may be about to take the partitions of this life.
   */
  private boolean isStillOurs() {
    var entry = transport.get(key);
    boolean belongsToLife = entry.flatMap(NodeState::memberOf).filter(this::isOurs).isPresent();
    if (belongsToLife) version = OptionalLong.of(entry.get().version());
    else expire(entry.flatMap(NodeState::of).flatMap(NodeState::over).orElse("other nodes declared it dead"));
    return belongsToLife;
  }

  private void expire(String reason) {
    LOG.warn("node '{}' has lapsed: {}; it joins again", self().name(), reason);
    ClusterEvents.recordLapse(self().name(), reason);
    endOwnLife();
    joiningId = newId();
    onExpired.forEach(Runnable::run);
  }

  /** Ends this life locally, before other nodes can know that it is over. */
  private void endOwnLife() {
    version = OptionalLong.empty();
    life = new LeaseLife(life.member, false, 0, 0);
    heartbeats.onLifeEnded(life.member.id());
  }

  private void rejoin() {
    if (!create()) LOG.error("node '{}' cannot join again: another node has its name", self().name());
  }

  /**
   * Ends this life, and writes that it is over. Called on the thread of the actor that sends
   * heartbeats, or while this actor does not run.
   */
  public void endLife() {
    hasLeft = true;
    var lastVersion = version;
    endOwnLife();
    try {
      if (lastVersion.isPresent()) new NodeState(self(), Map.of(), Optional.of(leaseTime), Optional.empty())
          .end(transport, key, lastVersion.getAsLong(), "it left");
    } catch (TransportException failure) {
      LOG.debug("node '{}' left without notice", self().name(), failure);
    }
  }
}
