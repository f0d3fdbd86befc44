package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.FailurePolicy;
import io.fibry.cluster.Cluster.Member;
import io.fibry.codec.Codec;
import io.fibry.codec.CodecException;
import io.fibry.pubsub.SharedValue;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;
import org.slf4j.LoggerFactory;

/**
 * That this node is alive, in the table, and which others are. The node gives a sign five times in
 * its lease. Fields without a remark are of the actor that does so, and of what follows its end.
 */
final class Membership {
  private static final Codec<Member> CODEC = Codec.of(Member.class);

  private enum Sign {
    NOW
  }

  private final Engine engine;
  private final String key;
  private final Duration lease;
  private final Member self; // read by all
  private final SharedValue<List<Member>> all; // read by all; changed by the engine's thread
  private final String keys;
  private OptionalLong version; // empty: the lease has run out

  private Membership(Engine engine, Subjects subjects, Cluster.Options options, SharedValue<List<Member>> all) {
    this.engine = engine;
    this.key = subjects.keyOfNode(options.node());
    this.keys = subjects.keysOfNodes();
    this.lease = options.lease();
    this.self = new Member(options.node(), UUID.randomUUID().toString(), Instant.now());
    this.all = all;
    this.version = engine.create(key, CODEC.encode(self), lease);
  }

  static Membership begin(ActorScope scope, Engine engine, Subjects subjects, Cluster.Options options) {
    var membership = new Membership(engine, subjects, options, SharedValue.of(scope.anonymous(), List.of()));
    if (membership.version.isEmpty()) throw new IllegalStateException("a node '" + options.node() + "' of app '"
        + subjects.app() + "' is alive" + membership.holder()
        + "; give this one another name, or wait until the lease of the other has run out");
    Actor<Sign> signs =
        scope.anonymous().onFailure(FailurePolicy.goOn()).newActor((Sign sign) -> membership.renew());
    signs.closeOnExit(engine.watch(membership.keys, membership::learn), membership::leave);
    signs.sendMessageEvery(Sign.NOW, options.lease().dividedBy(5));
    return membership;
  }

  private String holder() {
    return engine.get(key).flatMap(Engine.Entry::value).map(bytes -> ", since " + CODEC.decode(bytes).since())
        .orElse("");
  }

  Member self() {
    return self;
  }

  SharedValue<List<Member>> all() {
    return all;
  }

  private void renew() {
    byte[] value = CODEC.encode(self);
    try {
      version = version.isPresent() ? engine.update(key, value, version.getAsLong(), lease)
          : engine.create(key, value, lease);
      if (version.isEmpty())
        LoggerFactory.getLogger(Cluster.class).warn("node '{}' was taken for gone; it joins again", self.name());
    } catch (LostException cut) {
      LoggerFactory.getLogger(Cluster.class).warn("node '{}' could not give a sign of life", self.name(), cut);
    }
  }

  private void leave() {
    try {
      if (version.isPresent()) engine.delete(key, version.getAsLong());
    } catch (LostException cut) {
      LoggerFactory.getLogger(Cluster.class).debug("node '{}' left without a word", self.name(), cut);
    }
  }

  /** On the engine's thread, one entry after the other. */
  private void learn(Engine.Entry entry) {
    String name = entry.key().substring(keys.length());
    var now = new ArrayList<>(all.value());
    now.removeIf(member -> member.name().equals(name));
    try {
      entry.value().map(CODEC::decode).ifPresent(now::add);
    } catch (CodecException foreign) {
      LoggerFactory.getLogger(Cluster.class).warn("the entry of node '{}' cannot be read", name, foreign);
    }
    now.sort(Comparator.comparing(Member::name));
    var sorted = List.copyOf(now);
    if (!sorted.equals(all.value())) all.set(sorted);
  }
}
