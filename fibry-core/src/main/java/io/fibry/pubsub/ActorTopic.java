package io.fibry.pubsub;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.AskCycleException;
import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.Handler;
import io.fibry.RequestException;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * The one topic. Its name, its place in the scope, its end, and the dead letters of what comes too
 * late are those of an actor, the owner. The owner's last act is to end the actors made for
 * subscribers and to wait for them: so whoever ends the owner, by the topic or with the scope, ends
 * the topic. It waits on a fiber, whatever the strategy: on an executor with one thread it would
 * wait for itself, and on CALLER make its ender wait.
 */
final class ActorTopic<M> implements Topic<M> {
  private static final Mailbox<Object> LATEST = Mailbox.bounded(1_024, Overflow.DROP_OLDEST);
  // for who found it by its name
  private static final Mailbox<Object> FOUND = Mailbox.bounded(1_024, Overflow.REJECT);

  private final ActorBuilder<? super M> how;
  // made here and not ended yet, also those whose subscription was closed
  private final Set<Actor<M>> own = ConcurrentHashMap.newKeySet();
  private final AtomicInteger made = new AtomicInteger();
  private final Actor<Exitable> watcher = watcher(new WeakReference<>(this));
  private final Actor<M> owner;
  // null once it is ending; each list never changes; written under the monitor, read by publishers
  private volatile List<Subscriber<M>> subscribers = List.of();
  // what was published before is not to be handled either; false -> true, by askExit and kill
  private volatile boolean cut;

  ActorTopic(ActorBuilder<? super M> how) {
    this.how = how;
    owner = how.strategy(Strategy.FIBER).<M>mailbox(FOUND).newActor(this::publish);
    owner.closeOnExit(this::drain);
  }

  // ---- publishing

  @Override
  public void publish(M message) {
    Objects.requireNonNull(message, "message");
    var now = subscribers;
    if (now == null) { // so the owner's door is shut, or its pill is in: a dead letter
      owner.sendMessage(message);
      return;
    }
    AskCycleException ring = null;
    for (var place : now) {
      try {
        place.deliver(message);
      } catch (AskCycleException another) {
        if (ring == null) ring = another;
        else ring.addSuppressed(another);
      }
    }
    if (ring != null) throw ring;
  }

  boolean isCut() {
    return cut;
  }

  // ---- subscribing

  @Override
  public Subscription subscribe(Actor<? super M> subscriber) {
    return enter(new ActorSubscriber<>(this, Objects.requireNonNull(subscriber, "subscriber"), false));
  }

  @Override
  public Subscription subscribe(Handler<M> subscriber) {
    return subscribe(how.orMailbox(LATEST), subscriber);
  }

  @Override
  public Subscription subscribe(Mailbox<? super M> mailbox, Handler<M> subscriber) {
    return subscribe(how.<M>mailbox(Objects.requireNonNull(mailbox, "mailbox")), subscriber);
  }

  private Subscription subscribe(ActorBuilder<? super M> how, Handler<M> subscriber) {
    Objects.requireNonNull(subscriber, "subscriber");
    if (subscribers == null) throw ended();
    Actor<M> actor = how.part(Integer.toString(made.incrementAndGet())).newActor(subscriber);
    own.add(actor);
    var place = new ActorSubscriber<>(this, actor, true);
    actor.onExit().whenComplete((reason, none) -> { // it is ours, and nothing to be taken back
      own.remove(actor);
      leave(place);
    });
    try {
      return enter(place);
    } catch (IllegalStateException late) {
      actor.askExit();
      throw late;
    }
  }

  @Override
  public Subscription subscribeOn(Executor where, Handler<M> subscriber) {
    return enter(new ExecutorSubscriber<>(this, Objects.requireNonNull(where, "where"),
        Objects.requireNonNull(subscriber, "subscriber")));
  }

  private Subscription enter(Subscriber<M> place) {
    synchronized (this) {
      if (subscribers == null) throw ended();
      var more = new ArrayList<>(subscribers);
      more.add(place);
      subscribers = more;
    }
    look(place);
    return place;
  }

  private IllegalStateException ended() {
    return new IllegalStateException("topic '" + name() + "' has ended and takes no subscriber; make a new one");
  }

  void leave(Subscriber<M> place) {
    synchronized (this) {
      if (subscribers == null || !subscribers.contains(place)) return;
      subscribers = subscribers.stream().filter(other -> other != place).toList();
    }
    look(place);
  }

  // ---- the ends of others

  /** Sees to it that somebody else's end is heard of as long as he has a place. */
  private void look(Subscriber<M> place) {
    if (place.other != null) watcher.sendMessage(place.other);
  }

  /**
   * Watches or forgets whom it is sent: by whether he has a place at that moment, so the last one
   * sent is right. Whom it watches keeps it, but not the topic.
   */
  private static Actor<Exitable> watcher(WeakReference<? extends ActorTopic<?>> reference) {
    return ActorSystem.anonymous().strategy(Strategy.CALLER).mailbox(Mailbox.unbounded())
        .newActor((Exitable who, ActorContext<Exitable> context) -> {
          var topic = reference.get();
          if (topic == null || !topic.knows(who)) context.unwatch(who);
          else
            context.watch(who, reason -> {
              forget(reference.get(), who);
              return who;
            });
        });
  }

  private boolean knows(Exitable who) {
    var now = subscribers;
    return now != null && now.stream().anyMatch(place -> place.other == who);
  }

  private static void forget(ActorTopic<?> topic, Exitable who) {
    if (topic != null) topic.forget(who);
  }

  private synchronized void forget(Exitable who) {
    if (subscribers == null) return;
    subscribers = subscribers.stream().filter(place -> place.other != who).toList();
  }

  // ---- the end

  /** After the owner's door was shut, or its pill sent: nobody is told anything more. */
  private void end(Consumer<Exitable> verb) {
    List<Subscriber<M>> left;
    synchronized (this) {
      left = subscribers == null ? List.of() : subscribers;
      subscribers = null;
    }
    own.forEach(verb);
    left.forEach(this::look);
  }

  /** The owner's last act. */
  private void drain() {
    end(Exitable::sendPoisonPill);
    // else it was cut off, and nobody's patience is left
    if (!owner.onExit().isDone()) own.forEach(ActorTopic::outlast);
  }

  private static void outlast(Exitable actor) {
    while (true) {
      try {
        actor.waitForExit();
        return;
      } catch (CancellationException interrupt) {
        // by a kill, which has come to this actor too; or by a scope that closes, to be told the
        // next line
        Thread.interrupted();
      } catch (RequestException ring) {
        // its handler waits for the end of the topic, or of the scope: it goes first
        return;
      }
    }
  }

  @Override
  public void sendPoisonPill() {
    owner.sendPoisonPill();
    end(Exitable::sendPoisonPill);
  }

  @Override
  public void askExit() {
    cut = true;
    owner.askExit();
    end(Exitable::askExit);
  }

  @Override
  public void kill() {
    cut = true;
    own.forEach(Exitable::kill); // their grace is over before the owner's
    owner.kill();
    end(Exitable::kill); // who came meanwhile, too
  }

  @Override
  public void waitForExit() {
    refuseRing();
    owner.waitForExit();
  }

  @Override
  public boolean waitForExit(Duration limit) {
    refuseRing();
    return owner.waitForExit(limit);
  }

  /**
   * Who is in the handler of one of its actors can wait neither for that one nor for the topic,
   * which waits for it.
   */
  private void refuseRing() {
    for (var actor : own) actor.waitForExit(Duration.ZERO);
  }

  @Override
  public void close() {
    sendPoisonPill();
    if (own.stream().noneMatch(ActorTopic::waitsForUs)) owner.waitForExit();
  }

  private static boolean waitsForUs(Exitable actor) {
    try {
      actor.waitForExit(Duration.ZERO);
      return false;
    } catch (RequestException ring) {
      return true;
    } catch (CancellationException interrupted) { // so there is no ring
      return false;
    }
  }

  @Override
  public String name() {
    return owner.name();
  }

  @Override
  public CompletableFuture<ExitReason> onExit() {
    return owner.onExit();
  }

  @Override
  public Topic<M> closeOnExit(AutoCloseable... resources) {
    var last = new ArrayList<AutoCloseable>();
    for (var resource : resources) last.add(new Last(this, Objects.requireNonNull(resource, "a resource")));
    owner.closeOnExit(last.toArray(AutoCloseable[]::new));
    return this;
  }

  /** Something that subscribers may use until they have ended. */
  @SuppressWarnings("try") // the user's resource may throw anything: the owner logs it
  private record Last(ActorTopic<?> topic, AutoCloseable resource) implements AutoCloseable {
    @Override
    public void close() throws Exception {
      topic.drain();
      resource.close();
    }

    @Override
    public String toString() {
      return resource.toString();
    }
  }

  @Override
  public String toString() {
    return "topic '" + name() + "'";
  }
}
