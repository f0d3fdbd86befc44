package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.cluster.Cluster.Member;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.pubsub.ObservableValue;
import io.fibry.pubsub.Subscription;
import io.fibry.spi.BlockBuilder;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which nodes are alive. A node is gone if its entry says that its life is over, or if it sent no
 * heartbeat for a whole lease, by the clock of this node. In the latter case this node writes that
 * the life is over, at the version that it saw. If there was a heartbeat meanwhile, the table
 * refuses that. An entry that is gone from the table says nothing. Thread-safe: an actor learns one
 * entry after the other, and fields without a remark are of its thread.
 */
final class Membership implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Cluster.class);
  private static final Duration HOSTING_GRACE = Duration.ofSeconds(5);
  private static final int CHECKS_PER_LEASE = 10; // in a lease

  private record MembershipCheck() {}

  /** The last entry of a node. */
  private record NodeEntry(State state, long version) {
    Member member() {
      return state.member();
    }
  }

  private final ObservableValue<List<Member>> memberList; // read by all
  private final Map<String, Long> knownSince = new ConcurrentHashMap<>(); // by id; read by all
  private final Map<String, Long> hostedUntil = new ConcurrentHashMap<>(); // by kind; read by all
  // Offers, by node; read by all.
  private final Map<String, Map<String, String>> endedOffers = new ConcurrentHashMap<>();
  private final Map<String, Duration> leases = new ConcurrentHashMap<>(); // by node; read by all
  private final List<Consumer<List<Member>>> listeners = new ArrayList<>(); // guarded by itself
  private final TreeMap<String, NodeEntry> entries = new TreeMap<>(); // by node
  private final Scheduler clock;
  private final ClusterTransport engine;
  private final HeartbeatTracker lives;
  private final String node;
  private final String keyPrefix;
  private final Actor<Object> actor;

  Membership(ActorScope scope, ClusterTransport engine, Subjects subjects, Cluster.Options options,
      HeartbeatTracker lives) {
    this.clock = BlockBuilder.of(scope.anonymous()).scheduler();
    this.engine = engine;
    this.lives = lives;
    this.node = options.node();
    this.memberList = ObservableValue.of(NodeContext.newInternalBuilder(scope), List.of());
    this.keyPrefix = subjects.keysOfNodes();
    this.actor = NodeContext.newInternalBuilder(scope).newActor(this::handle);
    actor.closeOnExit(engine.watch(keyPrefix, actor::sendMessage));
    actor.sendMessageEvery(new MembershipCheck(), options.lease().dividedBy(CHECKS_PER_LEASE));
  }

  ObservableValue<List<Member>> all() {
    return memberList;
  }

  List<Member> members() {
    return memberList.value();
  }

  /**
   * Follows each change, while a slow subscriber of {@link #memberList} gets the last change only. The
   * reader gets the present members first, on this thread, and later changes on the actor's thread.
   * It must not wait.
   *
   * <p>No change is missed between the two, and the order is kept: a change is written to
   * {@code all} before its reader is called, and both calls hold the monitor. A change may come
   * twice.
   */
  Subscription onEachChange(Consumer<List<Member>> reader) {
    synchronized (listeners) {
      reader.accept(members());
      listeners.add(reader);
    }
    return () -> {
      synchronized (listeners) {
        listeners.remove(reader);
      }
    };
  }

  /** The owner is alive, and this node has known it for so long. */
  boolean isKnownFor(Duration time, Right owner) {
    return members().stream().filter(owner::isOf).map(member -> knownSince.get(member.id()))
        .anyMatch(since -> since != null && clock.nanoTime() - since >= time.toNanos());
  }

  /** The owner may believe in its lease, as far as this node has seen. */
  boolean mayLive(Right owner) {
    return lives.mayLive(owner.life());
  }

  /** Whether an owner whose node has no entry may still be alive. */
  boolean mayLiveWithoutEntry(Right owner) {
    return lives.mayLiveWithoutEntry(owner.life());
  }

  /**
   * Whether a node hosts the kind, or hosted it a moment ago, so that another node may be about to
   * host it.
   */
  boolean hosts(String kind) {
    if (members().stream().anyMatch(member -> member.hosts().contains(kind))) return true;
    var before = hostedUntil.get(kind);
    return before != null && clock.nanoTime() - before < HOSTING_GRACE.toNanos();
  }

  /**
   * The time after which a request that no node has claimed is lost.
   *
   * @param own the lease of this node
   * @return the longest of all leases, or empty if an older node is a member, which makes no claims
   */
  Optional<Duration> longestLease(Duration own) {
    var longest = own;
    for (var member : members()) {
      var lease = leases.get(member.name());
      if (lease == null) return Optional.empty();
      if (lease.compareTo(longest) > 0) longest = lease;
    }
    return Optional.of(longest);
  }

  /**
   * Returns why a node does not offer an actor any more; empty if the node is gone, or has
   * forgotten it.
   */
  Optional<String> endedOffers(String node, String offer) {
    return Optional.ofNullable(endedOffers.getOrDefault(node, Map.of()).get(offer));
  }

  private void handle(Object event) {
    if (event instanceof ClusterTransport.Entry entry) onEntry(entry);
    else removeSilent();
  }

  private void onEntry(ClusterTransport.Entry entry) {
    String name = entry.key().substring(keyPrefix.length());
    var state = State.of(entry);
    if (state.isEmpty()) return;
    lives.onEntry(state.get());
    if (state.get().isOver()) remove(name);
    else put(name, new NodeEntry(state.get(), entry.version()));
  }

  private void put(String name, NodeEntry next) {
    var before = entries.put(name, next);
    if (before != null) onLeft(before.member());
    endedOffers.put(name, next.state.ended());
    next.state.lease().ifPresentOrElse(lease -> leases.put(name, lease), () -> leases.remove(name));
    publish();
  }

  private void remove(String name) {
    var before = entries.remove(name);
    if (before == null) return;
    onLeft(before.member());
    endedOffers.remove(name);
    publish();
    leases.remove(name); // after its member: a member without a lease is an older node
  }

  private void onLeft(Member before) {
    before.hosts().forEach(kind -> hostedUntil.put(kind, clock.nanoTime()));
  }

  private void publish() {
    var members = entries.values().stream().map(NodeEntry::member).toList();
    knownSince.keySet().retainAll(members.stream().map(Member::id).toList());
    for (var member : members) knownSince.putIfAbsent(member.id(), clock.nanoTime());
    if (members.equals(memberList.value())) return;
    memberList.set(members);
    synchronized (listeners) {
      listeners.forEach(one -> one.accept(members));
    }
  }

  // ---- who is silent

  private void removeSilent() {
    for (var sign : List.copyOf(entries.values())) try {
      if (!lives.mayLive(sign.member().id())) endSilentLife(sign);
    } catch (TransportException cut) {
      if (cut.failure() == Failure.DENIED) remove(sign.member().name()); // it takes no parts, and may not write
      else LOG.debug("node '{}' cannot say that node '{}' is gone", node, sign.member().name(), cut);
    }
    lives.removeOld();
  }

  private void endSilentLife(NodeEntry silent) {
    var member = silent.member();
    String key = keyPrefix + member.name();
    String why = "node '" + node + "' saw no heartbeat of it for a whole lease";
    if (silent.state.end(engine, key, silent.version, why)) remove(member.name());
    else engine.get(key).filter(now -> now.version() > silent.version).flatMap(State::of)
        .ifPresentOrElse(lives::onEntry, () -> remove(member.name())); // news of its heartbeat have not arrived yet
  }

  @Override
  public void close() {
    actor.kill();
  }
}
