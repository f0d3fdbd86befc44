package io.fibry.cluster;

import io.fibry.ActorScope;
import io.fibry.cluster.Cluster.Member;
import io.fibry.pubsub.SharedValue;
import io.fibry.pubsub.Subscription;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** Which nodes are alive, as the table says. Thread-safe. */
final class Membership implements AutoCloseable {
  private static final Duration MOMENT = Duration.ofSeconds(5);

  private final SharedValue<List<Member>> all; // changed by the engine's thread
  private final Map<String, Long> knownSince = new ConcurrentHashMap<>(); // by id
  private final Map<String, Long> hostedUntil = new ConcurrentHashMap<>(); // by kind
  private final Map<String, Map<String, String>> ended = new ConcurrentHashMap<>(); // offers, by node: why
  private final Map<String, Duration> claiming = new ConcurrentHashMap<>(); // leases, by node
  private final Scheduler clock;
  private final String keys;
  private final Subscription news;
  private final List<Consumer<List<Member>>> followers = new ArrayList<>(); // guarded by itself

  Membership(ActorScope scope, Scheduler clock, Engine engine, Subjects subjects) {
    this.clock = clock;
    this.all = SharedValue.of(Surroundings.own(scope), List.of());
    this.keys = subjects.keysOfNodes();
    this.news = engine.watch(keys, this::learn);
  }

  SharedValue<List<Member>> all() {
    return all;
  }

  List<Member> now() {
    return all.value();
  }

  /**
   * Follows each change, while a slow subscriber of {@link #all} gets the last one only. The reader
   * gets the members of now first. It is called by this thread, then by the engine's, and must not
   * wait.
   *
   * <p>Nothing is missed between the two, and nothing comes in another order: a change is written
   * to {@code all} before its reader is called, and both calls hold the monitor. A change may come
   * twice.
   */
  Subscription followEach(Consumer<List<Member>> reader) {
    synchronized (followers) {
      reader.accept(now());
      followers.add(reader);
    }
    return () -> {
      synchronized (followers) {
        followers.remove(reader);
      }
    };
  }

  /** The owner is alive, and this node has known it for so long. */
  boolean isKnownFor(Duration time, Right owner) {
    return now().stream().filter(owner::isOf).map(member -> knownSince.get(member.id()))
        .anyMatch(since -> since != null && clock.nanoTime() - since >= time.toNanos());
  }

  /** Some node is home to the kind, or was so a moment ago: then another one may be about to be. */
  boolean hosts(String kind) {
    if (now().stream().anyMatch(member -> member.hosts().contains(kind))) return true;
    var before = hostedUntil.get(kind);
    return before != null && clock.nanoTime() - before < MOMENT.toNanos();
  }

  /**
   * The time after which a request that no node has claimed is lost.
   *
   * @param own the lease of this node
   * @return the longest of all leases; empty: some node makes no claims
   */
  Optional<Duration> longestLease(Duration own) {
    var longest = own;
    for (var member : now()) {
      var lease = claiming.get(member.name());
      if (lease == null) return Optional.empty();
      if (lease.compareTo(longest) > 0) longest = lease;
    }
    return Optional.of(longest);
  }

  /** Why a node offers an actor no more; empty: it is gone, or does not know any more. */
  Optional<String> ended(String node, String offer) {
    return Optional.ofNullable(ended.getOrDefault(node, Map.of()).get(offer));
  }

  /** On the engine's thread, one entry after the other. */
  private void learn(Engine.Entry entry) {
    String name = entry.key().substring(keys.length());
    var now = new ArrayList<>(all.value());
    now.stream().filter(member -> member.name().equals(name))
        .forEach(member -> member.hosts().forEach(kind -> hostedUntil.put(kind, clock.nanoTime())));
    now.removeIf(member -> member.name().equals(name));
    var state = Lease.stateOf(entry);
    if (state.isPresent()) ended.put(name, state.get().ended());
    else ended.remove(name);
    state.flatMap(Lease.State::claiming).ifPresentOrElse(lease -> claiming.put(name, lease),
        () -> claiming.remove(name));
    state.map(Lease.State::member).ifPresent(now::add);
    now.sort(Comparator.comparing(Member::name));
    var sorted = List.copyOf(now);
    knownSince.keySet().retainAll(sorted.stream().map(Member::id).toList());
    for (var member : sorted) knownSince.putIfAbsent(member.id(), clock.nanoTime());
    if (sorted.equals(all.value())) return;
    all.set(sorted);
    synchronized (followers) {
      followers.forEach(one -> one.accept(sorted));
    }
  }

  @Override
  public void close() {
    news.close();
  }
}
