package io.fibry.cluster.membership;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.Cluster.Member;
import io.fibry.cluster.TransportException;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.wire.Subjects;
import io.fibry.pubsub.ObservableValue;
import io.fibry.pubsub.Subscription;
import io.fibry.spi.BlockBuilder;
import io.fibry.text.SafeLogger;
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

/**
 * Knows which nodes are alive. A node is dead if its entry says that its life is over, or if it
 * sent no heartbeat for a lease by the clock of this node. In the latter case this node writes that
 * the life is over, by compare-and-set on the version that it saw. If a heartbeat has changed the
 * version, the table refuses the write. A missing entry does not show whether its node is alive.
 * Thread-safe: an actor handles one entry after the other, and fields whose comments name no thread
 * are used only by its thread.
 */
public final class Membership implements AutoCloseable {
  private static final Logger LOG = SafeLogger.of(Cluster.class);
  private static final Duration HOSTING_GRACE = Duration.ofSeconds(5);
  private static final int CHECKS_PER_LEASE = 10;

  private record MembershipCheck() {}

  /** The last entry of a node. */
  private record NodeEntry(NodeState state, long version) {
    Member member() {
      return state.member();
    }
  }

  private final ObservableValue<List<Member>> memberList; // read by all threads
  private final Map<String, Long> knownSince = new ConcurrentHashMap<>(); // by life, in nanoseconds; read by all
  private final Map<String, Long> hostedUntil = new ConcurrentHashMap<>(); // by kind, in nanoseconds; read by all
  // Reasons by node and offer; read by all threads.
  private final Map<String, Map<String, String>> endedOffers = new ConcurrentHashMap<>();
  private final Map<String, Duration> leases = new ConcurrentHashMap<>(); // by node; read by all threads
  private final List<Consumer<List<Member>>> listeners = new ArrayList<>(); // guarded by its monitor
  private final TreeMap<String, NodeEntry> entries = new TreeMap<>(); // by node
  private final Scheduler clock;
  private final ClusterTransport transport;
  private final HeartbeatTracker heartbeats;
  private final String node;
  private final String keyPrefix;
  private final Actor<Object> actor;

  public Membership(ActorScope scope, ClusterTransport transport, Subjects subjects, String node, Duration lease,
      HeartbeatTracker heartbeats) {
    this.clock = BlockBuilder.of(scope.anonymous()).scheduler();
    this.transport = transport;
    this.heartbeats = heartbeats;
    this.node = node;
    this.memberList = ObservableValue.of(InternalActors.newBuilder(scope), List.of());
    this.keyPrefix = subjects.nodeKeyPrefix();
    this.actor = InternalActors.newEventBuilder(scope).newActor(this::handle);
    actor.closeOnExit(transport.watch(keyPrefix, actor::sendMessage));
    actor.sendMessageEvery(new MembershipCheck(), lease.dividedBy(CHECKS_PER_LEASE));
  }

  public ObservableValue<List<Member>> observableMembers() {
    return memberList;
  }

  public List<Member> members() {
    return memberList.value();
  }

  /**
   * Calls the listener with each change; a slow subscriber of {@link #observableMembers} may get
   * only the last change. The listener gets the current members first, on the calling thread, and
   * later changes on the actor's thread. It must not wait.
   *
   * <p>No later change is missed, and the order is preserved. For this, a change is written to
   * {@code memberList} before the listeners are called, and all calls hold the monitor of
   * {@code listeners}. A listener may get a change twice.
   */
  public Subscription onEachChange(Consumer<List<Member>> listener) {
    synchronized (listeners) {
      listener.accept(members());
      listeners.add(listener);
    }
    return () -> {
      synchronized (listeners) {
        listeners.remove(listener);
      }
    };
  }

  /** Returns whether the owner is alive, and this node has known it for at least {@code time}. */
  public boolean isKnownFor(Duration time, PartitionRight owner) {
    return members().stream().filter(owner::isOf).map(member -> knownSince.get(member.id()))
        .anyMatch(since -> since != null && clock.nanoTime() - since >= time.toNanos());
  }

  /** Returns whether the lease of the owner may still be valid, as far as this node has seen. */
  public boolean mayHaveValidLease(PartitionRight owner) {
    return heartbeats.mayHaveValidLease(owner.life());
  }

  /**
   * Records that the node of an owner has no entry, and returns whether the owner may still be
   * alive.
   */
  public boolean mayLiveWithoutEntry(PartitionRight owner) {
    return heartbeats.mayLiveWithoutEntry(owner.life());
  }

  /**
   * Returns whether a node hosts the kind, or hosted it less than {@code HOSTING_GRACE} ago. In the
   * latter case another node may be about to host it.
   */
  public boolean hosts(String kind) {
    if (members().stream().anyMatch(member -> member.hosts().contains(kind))) return true;
    var lastHostedAt = hostedUntil.get(kind);
    return lastHostedAt != null && clock.nanoTime() - lastHostedAt < HOSTING_GRACE.toNanos();
  }

  /**
   * Returns the time without a keep-alive after which a request counts as lost.
   *
   * @param ownLease the lease of this node
   * @return the longest of all leases; empty if a member runs an older version, which sends no
   * keep-alives
   */
  public Optional<Duration> longestLease(Duration ownLease) {
    var maxLease = ownLease;
    for (var member : members()) {
      var lease = leases.get(member.name());
      if (lease == null) return Optional.empty();
      if (lease.compareTo(maxLease) > 0) maxLease = lease;
    }
    return Optional.of(maxLease);
  }

  /**
   * Returns why a node does not offer an actor any more; empty if the node is dead, or has
   * forgotten the offer.
   */
  public Optional<String> endReason(String node, String offer) {
    return Optional.ofNullable(endedOffers.getOrDefault(node, Map.of()).get(offer));
  }

  private void handle(Object event) {
    if (event instanceof ClusterTransport.Entry entry) onEntry(entry);
    else removeSilent();
  }

  private void onEntry(ClusterTransport.Entry entry) {
    String name = entry.key().substring(keyPrefix.length());
    var state = NodeState.of(entry);
    if (state.isEmpty()) return;
    heartbeats.onEntry(state.get());
    if (state.get().isOver()) remove(name);
    else put(name, new NodeEntry(state.get(), entry.version()));
  }

  private void put(String name, NodeEntry entry) {
    var previous = entries.put(name, entry);
    if (previous != null) recordHosting(previous.member());
    endedOffers.put(name, entry.state.ended());
    entry.state.lease().ifPresentOrElse(lease -> leases.put(name, lease), () -> leases.remove(name));
    publish();
  }

  private void remove(String name) {
    var previous = entries.remove(name);
    if (previous == null) return;
    recordHosting(previous.member());
    endedOffers.remove(name);
    publish();
    leases.remove(name); // last, because a member without a lease counts as a node of an older version
  }

  /** Records that a member has hosted its kinds until now. */
  private void recordHosting(Member member) {
    member.hosts().forEach(kind -> hostedUntil.put(kind, clock.nanoTime()));
  }

  private void publish() {
    var members = entries.values().stream().map(NodeEntry::member).toList();
    knownSince.keySet().retainAll(members.stream().map(Member::id).toList());
    for (var member : members) knownSince.putIfAbsent(member.id(), clock.nanoTime());
    if (members.equals(memberList.value())) return;
    memberList.set(members);
    synchronized (listeners) {
      listeners.forEach(listener -> listener.accept(members));
    }
  }

  // ---- silent nodes

  private void removeSilent() {
    for (var entry : List.copyOf(entries.values())) try {
      if (!heartbeats.mayHaveValidLease(entry.member().id())) endSilentLife(entry);
    } catch (TransportException failure) {
      if (failure.failure() == Failure.DENIED) remove(entry.member().name()); // no permission to write the end
      else LOG.debug("node '{}' could not write that node '{}' is dead", node, entry.member().name(), failure);
    }
    heartbeats.removeOld();
  }

  private void endSilentLife(NodeEntry entry) {
    var member = entry.member();
    String key = keyPrefix + member.name();
    String reason = "node '" + node + "' saw no heartbeat of it for a whole lease";
    if (entry.state.end(transport, key, entry.version, reason)) remove(member.name());
    else transport.get(key).filter(current -> current.version() > entry.version).flatMap(NodeState::of)
        .ifPresentOrElse(heartbeats::onEntry, () -> remove(member.name())); // the watch may deliver a heartbeat late
  }

  @Override
  public void close() {
    actor.kill();
  }
}
