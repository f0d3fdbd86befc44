package io.fibry.cluster;

import io.fibry.ActorScope;
import io.fibry.cluster.Cluster.Member;
import io.fibry.pubsub.SharedValue;
import io.fibry.pubsub.Subscription;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Which nodes are alive, as the table says. Thread-safe. */
final class Membership implements AutoCloseable {
  private final SharedValue<List<Member>> all; // changed by the engine's thread
  private final String keys;
  private final Subscription news;

  Membership(ActorScope scope, Engine engine, Subjects subjects) {
    this.all = SharedValue.of(scope.anonymous(), List.of());
    this.keys = subjects.keysOfNodes();
    this.news = engine.watch(keys, this::learn);
  }

  SharedValue<List<Member>> all() {
    return all;
  }

  List<Member> now() {
    return all.value();
  }

  /** Some node is home to the kind. */
  boolean hosts(String kind) {
    return now().stream().anyMatch(member -> member.hosts().contains(kind));
  }

  /** On the engine's thread, one entry after the other. */
  private void learn(Engine.Entry entry) {
    String name = entry.key().substring(keys.length());
    var now = new ArrayList<>(all.value());
    now.removeIf(member -> member.name().equals(name));
    Lease.memberOf(entry).ifPresent(now::add);
    now.sort(Comparator.comparing(Member::name));
    var sorted = List.copyOf(now);
    if (!sorted.equals(all.value())) all.set(sorted);
  }

  @Override
  public void close() {
    news.close();
  }
}
