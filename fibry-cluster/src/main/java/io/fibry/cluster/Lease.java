package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.AskTimeoutException;
import io.fibry.Done;
import io.fibry.Request;
import io.fibry.cluster.Cluster.Member;
import io.fibry.codec.Codec;
import io.fibry.codec.CodecException;
import io.fibry.pubsub.Subscription;
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
 * That this node is alive, in the table. It gives a sign five times in its lease. It takes itself
 * for dead two seconds before others may, by two clocks: a machine that stands still stops the one,
 * and the other can be set. Whichever says that the lease is over is believed. A node that has
 * lapsed joins again, with another life. Fields without a remark are of the actor that gives signs.
 */
final class Lease {
  private static final Codec<State> CODEC = Codec.of(State.class);
  private static final Logger LOG = LoggerFactory.getLogger(Cluster.class);
  private static final int MOST_ENDED = 64; // offers, whose ends others can read
  private static final Duration BEFORE_OTHERS = Duration.ofSeconds(2);

  private sealed interface Event {}

  private record Sign() implements Event {}

  private record Host(String kind, boolean now) implements Event, Request<Host, Done> {}

  private record Offered(String name, Object offer) implements Event, Request<Offered, Done> {}

  private record Ended(String name, Object offer, String why) implements Event {}

  private record Leave() implements Event, Request<Leave, Done> {}

  /**
   * What the table has of a node.
   *
   * @param ended the last offers that ended, with the reason
   * @param claiming the lease, in which it makes {@link Claims}; empty: an older node makes none
   */
  record State(Member member, Map<String, String> ended, Optional<Duration> claiming) {}

  /** Until when it is believed, by both clocks. */
  private record Life(Member member, boolean begun, long nanos, long millis) {}

  private final Engine engine;
  private final String key;
  private final Duration time;
  private final Scheduler clock;
  private final InstantSource wall;
  private final List<Runnable> onLapse = new CopyOnWriteArrayList<>();
  private final Set<String> hosts = new TreeSet<>();
  private final Map<String, Object> offers = new TreeMap<>(); // by name
  private final Map<String, String> ended = new LinkedHashMap<>(); // offers: why
  private volatile Life life; // written by that actor, or before it begins
  private OptionalLong version; // empty: it has lapsed
  private boolean left; // for good
  private Actor<Event> signs; // written before others know this object

  private Lease(Engine engine, Subjects subjects, Cluster.Options options, Scheduler clock) {
    this.engine = engine;
    this.key = subjects.keyOfNode(options.node());
    this.time = options.lease();
    this.clock = clock;
    this.wall = options.wall();
    this.life = new Life(member(options.node()), false, 0, 0);
    this.version = OptionalLong.empty();
  }

  static Lease begin(ActorScope scope, Engine engine, Subjects subjects, Cluster.Options options) {
    var lease = new Lease(engine, subjects, options, scope.anonymous().forBlocks().scheduler());
    lease.join(scope, subjects.app());
    boolean begun = false;
    try {
      lease.signs = Surroundings.own(scope).newActor(lease::handle);
      lease.signs.sendMessageEvery(new Sign(), options.lease().dividedBy(5));
      begun = true;
      return lease;
    } finally {
      if (!begun) lease.delete(); // otherwise others would take this node for alive until its lease expires
    }
  }

  /**
   * Creates the entry of this node, and waits if another entry has its name. If the node of that
   * entry is alive, its next sign changes the entry, and this method throws. If its process was
   * killed, the entry goes when the lease expires. The network may be away during the wait, but for
   * no longer than a lease: a server may have died together with the node.
   */
  private void join(ActorScope scope, String app) {
    if (create(self())) return;
    var before = engine.get(key);
    before.ifPresent(
        entry -> LOG.info("app '{}' still has a node '{}'{}; this one joins when the lease of that node expires", app,
            self().name(), since(entry)));
    for (long heard = clock.nanoTime();;) try {
      pause(scope, app);
      if (create(self())) return;
      var now = engine.get(key);
      heard = clock.nanoTime();
      if (isOurs(now)) engine.delete(key, now.get().version());
      else if (before.isEmpty()) before = now;
      else if (now.isPresent() && now.get().version() != before.get().version())
        throw new IllegalStateException("a node '" + self().name() + "' of app '" + app + "' is alive"
            + since(now.get()) + "; give this one another name");
    } catch (LostException cut) { // the entry may exist; then the next pass finds and deletes it
      if (clock.nanoTime() - heard > time.toNanos()) throw cut;
    }
  }

  private boolean isOurs(Optional<Engine.Entry> entry) {
    return entry.flatMap(Lease::memberOf).filter(member -> member.id().equals(self().id())).isPresent();
  }

  private static String since(Engine.Entry entry) {
    return memberOf(entry).map(one -> ", since " + one.since()).orElse("");
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

  /** {@return whether the entry was created; false if the table has an entry of that name} */
  private boolean create(Member member) {
    return live(member, () -> engine.create(key, bytes(member), time));
  }

  private Member member(String node) {
    return new Member(node, UUID.randomUUID().toString(), Set.copyOf(hosts), Set.copyOf(offers.keySet()),
        wall.instant());
  }

  private byte[] bytes(Member member) {
    return CODEC.encode(new State(member, new LinkedHashMap<>(ended), Optional.of(time)));
  }

  // ---- read by all

  Member self() {
    return life.member;
  }

  /** Others have not given this node up. */
  boolean isValid() {
    return isValid(life);
  }

  /** The same, and it has not had another life since. */
  boolean isValid(String id) {
    var now = life;
    return now.member.id().equals(id) && isValid(now);
  }

  private boolean isValid(Life now) {
    return now.begun && clock.nanoTime() - now.nanos < 0 && wall.millis() < now.millis;
  }

  /** Runs code, which must not wait, each time that this node has been given up. */
  Subscription onLapse(Runnable told) {
    onLapse.add(told);
    return () -> onLapse.remove(told);
  }

  /** Empty: the entry is gone, or is none of a node. */
  static Optional<Member> memberOf(Engine.Entry entry) {
    return stateOf(entry).map(State::member);
  }

  /** The same. */
  static Optional<State> stateOf(Engine.Entry entry) {
    try {
      return entry.value().map(CODEC::decode);
    } catch (CodecException foreign) {
      LOG.warn("the entry '{}' cannot be read", entry.key(), foreign);
      return Optional.empty();
    }
  }

  /** Tells the others what this node is home to; returns when they can know. */
  void host(String kind, boolean now) {
    signs.ask(new Host(kind, now));
  }

  /** Tells the others that this node offers an actor; returns when they can know. */
  void offer(String name, Object offer) {
    signs.ask(new Offered(name, offer));
  }

  /** Tells the others that an offer has ended. Its name may be offered anew by then. */
  void endOffer(String name, Object offer, String why) {
    signs.sendMessage(new Ended(name, offer, why));
  }

  /** Tells the others that this node is gone; if that takes too long, the end of its lease does. */
  void leave() {
    try {
      signs.ask(new Leave());
    } catch (AskTimeoutException late) {
      LOG.warn("node '{}' leaves without a word: {}", self().name(),
          Lines.message(late));
    }
    signs.close();
  }

  // ---- signs

  private void handle(Event event, ActorContext<Event> context) {
    switch (event) {
      case Sign sign -> renew();
      case Host host -> {
        if (host.now) hosts.add(host.kind);
        else hosts.remove(host.kind);
        renew();
        context.reply(host, Done.DONE);
      }
      case Offered offered -> {
        offers.put(offered.name, offered.offer);
        ended.remove(offered.name);
        renew();
        context.reply(offered, Done.DONE);
      }
      case Ended end -> {
        if (!offers.remove(end.name, end.offer)) break;
        ended.put(end.name, end.why);
        if (ended.size() > MOST_ENDED) ended.remove(ended.keySet().iterator().next());
        renew();
      }
      case Leave leave -> {
        delete();
        context.reply(leave, Done.DONE);
      }
    }
  }

  private void renew() {
    if (left) return;
    try {
      if (version.isPresent() && !isValid()) lapse("its lease ran out before a sign was confirmed");
      if (version.isEmpty()) joinAgain();
      else if (!update() && isStillOurs()) update();
    } catch (LostException cut) {
      LOG.warn("node '{}' could not give a sign of life: {}", self().name(),
          Lines.message(cut));
    }
  }

  /** False: the entry has another version, perhaps that of a sign of which nobody told us. */
  private boolean update() {
    var member = new Member(self().name(), self().id(), Set.copyOf(hosts), Set.copyOf(offers.keySet()),
        self().since());
    return live(member, () -> sign(member));
  }

  private OptionalLong sign(Member member) {
    var recorded = Recorder.beginSign();
    try {
      var next = engine.update(key, bytes(member), version.getAsLong(), time);
      Recorder.endSign(recorded, member.name(), null);
      return next;
    } catch (LostException cut) {
      Recorder.endSign(recorded, member.name(), cut);
      throw cut;
    }
  }

  /**
   * Writes the entry, and lives from the moment before: the network counts from when it has got the
   * sign, which is later. False: the entry was not written.
   */
  private boolean live(Member member, Supplier<OptionalLong> writing) {
    long nanos = clock.nanoTime();
    long millis = wall.millis();
    var written = writing.get();
    if (written.isEmpty()) return false;
    version = written;
    var ours = time.minus(BEFORE_OTHERS);
    life = new Life(member, true, nanos + ours.toNanos(), millis + ours.toMillis());
    return true;
  }

  private boolean isStillOurs() {
    var entry = engine.get(key);
    boolean ours = isOurs(entry);
    if (ours) version = OptionalLong.of(entry.get().version());
    else lapse("others took it for gone");
    return ours;
  }

  private void lapse(String why) {
    LOG.warn("node '{}' has lapsed: {}; it joins again", self().name(), why);
    Recorder.lapse(self().name(), why);
    version = OptionalLong.empty();
    life = new Life(life.member, false, 0, 0);
    onLapse.forEach(Runnable::run);
  }

  private void joinAgain() {
    var member = member(self().name());
    if (!create(member) && !live(member, () -> replace(member)))
      LOG.error("node '{}' cannot join again: another one has its name", self().name());
  }

  /** What is left of the life before, in the eyes of the network. */
  private OptionalLong replace(Member next) {
    var entry = engine.get(key);
    return isOurs(entry) ? engine.update(key, bytes(next), entry.get().version(), time) : OptionalLong.empty();
  }

  /** Deletes the entry. Called by the actor that gives signs, or when there is none any more. */
  void delete() {
    left = true;
    try {
      if (version.isPresent()) engine.delete(key, version.getAsLong());
    } catch (LostException cut) {
      LOG.debug("node '{}' left without a word", self().name(), cut);
    }
    version = OptionalLong.empty();
    life = new Life(life.member, false, 0, 0);
  }
}
