package io.fibry.pubsub;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.AskCycleException;
import io.fibry.Exitable;
import io.fibry.Handler;
import io.fibry.RequestException;
import io.fibry.Strategy;
import io.fibry.block.ChangedCopy;
import io.fibry.block.ForwardingGroup;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.spi.BlockBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * A topic with the name, scope, end and dead letters of an actor, the owner. At its end the owner
 * ends the actors made for subscribers and waits for them. It runs on a fiber: on an executor with
 * one thread it would wait for itself, on CALLER the ending thread would wait.
 */
final class ActorTopic<M> extends ForwardingGroup<Topic<M>> implements Topic<M>, Subscriber.SubscribedTopic<M> {
  private static final Mailbox<Object> LATEST = Mailbox.bounded(1_024, Overflow.DROP_OLDEST);
  private static final Mailbox<Object> OWNERS = Mailbox.bounded(1_024, Overflow.REJECT);

  private final ActorBuilder<? super M> builder;
  // made here and not ended, subscribed or not
  private final ConcurrentSkipListMap<Integer, Actor<M>> ownedActors = new ConcurrentSkipListMap<>(); // by number
  private final AtomicInteger made = new AtomicInteger();
  private final SubscriberWatch watch = new SubscriberWatch(this);
  private final Actor<M> owner;
  // null once the topic ends; immutable lists, written under the monitor, read by publishers
  private volatile List<Subscriber<M>> subscribers = List.of();
  private volatile boolean cutOff; // false -> true, by askExit and kill

  ActorTopic(ActorBuilder<? super M> builder) {
    this.builder = builder;
    owner = builder.strategy(Strategy.FIBER).<M>mailbox(OWNERS).newActor(this::publish);
    owner.closeOnExit(this::drain);
  }

  @Override
  public void publish(M message) {
    Objects.requireNonNull(message, "message");
    var now = subscribers;
    if (now == null) { // a dead letter of the owner
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

  @Override
  public String describe(M message) {
    return BlockBuilder.of(builder).describe(message);
  }

  @Override
  public boolean isCutOff() {
    return cutOff;
  }

  @Override
  public Subscription subscribe(Actor<? super M> subscriber) {
    return enter(new ActorSubscriber<>(this, Objects.requireNonNull(subscriber, "subscriber"), false));
  }

  @Override
  public Subscription subscribeToLatest(Handler<M> subscriber) {
    return subscribe(BlockBuilder.of(builder).defaultMailbox(LATEST), subscriber);
  }

  @Override
  public Subscription subscribe(Mailbox<? super M> mailbox, Handler<M> subscriber) {
    return subscribe(builder.<M>mailbox(Objects.requireNonNull(mailbox, "mailbox")), subscriber);
  }

  private Subscription subscribe(ActorBuilder<? super M> builder, Handler<M> subscriber) {
    Objects.requireNonNull(subscriber, "subscriber");
    if (subscribers == null) throw ended();
    int number = made.incrementAndGet();
    Actor<M> actor = BlockBuilder.of(builder).child(Integer.toString(number)).newActor(subscriber);
    ownedActors.put(number, actor);
    var subscription = new ActorSubscriber<>(this, actor, true);
    actor.onExit().whenComplete((reason, none) -> {
      ownedActors.remove(number);
      leave(subscription);
    });
    try {
      return enter(subscription);
    } catch (IllegalStateException late) {
      actor.askExit();
      throw late;
    }
  }

  @Override
  public Subscription subscribeOn(Executor executor, Handler<M> subscriber) {
    return enter(new ExecutorSubscriber<>(this, Objects.requireNonNull(executor, "executor"),
        Objects.requireNonNull(subscriber, "subscriber")));
  }

  private Subscription enter(Subscriber<M> subscriber) {
    synchronized (this) {
      if (subscribers == null) throw ended();
      subscribers = ChangedCopy.append(subscribers, subscriber);
    }
    look(subscriber);
    return subscriber;
  }

  private IllegalStateException ended() {
    return new IllegalStateException("topic '" + name() + "' has ended and takes no subscriber; make a new one");
  }

  @Override
  public void leave(Subscriber<M> subscriber) {
    if (remove(other -> other == subscriber)) look(subscriber);
  }

  private synchronized boolean remove(Predicate<Subscriber<M>> leaving) {
    if (subscribers == null || subscribers.stream().noneMatch(leaving)) return false;
    subscribers = subscribers.stream().filter(leaving.negate()).toList();
    return true;
  }

  private void look(Subscriber<M> subscriber) {
    if (subscriber.userActor != null) watch.watchOrForget(subscriber.userActor);
  }

  @Override
  public boolean hasSubscriber(Exitable foreign) {
    var now = subscribers;
    return now != null && now.stream().anyMatch(subscriber -> subscriber.userActor == foreign);
  }

  @Override
  public void forget(Exitable foreign) {
    remove(subscriber -> subscriber.userActor == foreign);
  }

  private void end(Consumer<Exitable> verb) {
    List<Subscriber<M>> left;
    synchronized (this) {
      left = subscribers == null ? List.of() : subscribers;
      subscribers = null;
    }
    ownedActors.values().forEach(verb);
    left.forEach(this::look);
  }

  @Override
  protected void drain() {
    end(Exitable::sendPoisonPill);
    // else the owner was cut off
    if (!owner.onExit().isDone()) ownedActors.values().forEach(ForwardingGroup::awaitEnd);
  }

  @Override
  public void sendPoisonPill() {
    owner.sendPoisonPill();
    end(Exitable::sendPoisonPill);
  }

  @Override
  public void askExit() {
    cutOff = true;
    owner.askExit();
    end(Exitable::askExit);
  }

  @Override
  public void kill() {
    cutOff = true;
    ownedActors.values().forEach(Exitable::kill); // their grace is over before the owner's
    owner.kill();
    end(Exitable::kill); // also those made meanwhile
  }

  @Override
  protected void refuseCycle() {
    for (var actor : ownedActors.values()) actor.waitForExit(Duration.ZERO);
  }

  @Override
  protected boolean isInMember() {
    return ownedActors.values().stream().anyMatch(ActorTopic::runsHere);
  }

  private static boolean runsHere(Exitable actor) {
    try {
      actor.waitForExit(Duration.ZERO);
      return false;
    } catch (RequestException ring) {
      return true;
    } catch (CancellationException interrupted) {
      return false;
    }
  }

  @Override
  protected Exitable target() {
    return owner;
  }

  @Override
  public String toString() {
    return "topic '" + name() + "'";
  }
}
