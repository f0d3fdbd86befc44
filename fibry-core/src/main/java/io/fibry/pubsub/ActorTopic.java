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
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * A topic with an actor, the owner, which gives the topic its name, scope, end and dead letters.
 * When the owner ends, it ends the actors that the topic made for subscribers, and waits for them.
 * The owner runs on a fiber because of this wait. On an executor with one thread, these actors
 * would get no thread to end on; on CALLER, the thread that ends the topic would wait.
 */
final class ActorTopic<M> extends ForwardingGroup<Topic<M>> implements Topic<M>, Subscriber.SubscribedTopic<M> {
  private static final Mailbox<Object> LATEST_MAILBOX = Mailbox.bounded(1_024, Overflow.DROP_OLDEST);
  private static final Mailbox<Object> OWNER_MAILBOX = Mailbox.bounded(1_024, Overflow.REJECT);

  private final ActorBuilder<? super M> builder;
  // actors that this topic made and that have not ended, subscribed or not; the key is the actor's
  // number
  private final ConcurrentSkipListMap<Integer, Actor<M>> ownedActors = new ConcurrentSkipListMap<>();
  private final AtomicInteger lastNumber = new AtomicInteger();
  private final SubscriberWatch watch = new SubscriberWatch(this);
  private final Actor<M> owner;
  // null once the topic ends; immutable lists, written under the monitor, read by publishers
  private volatile List<Subscriber<M>> subscribers = List.of();
  private final LongAdder published = new LongAdder();
  private final LongAdder delivered = new LongAdder();
  private final LongAdder refused = new LongAdder();
  // the subscriptions of `ownedActors`; a key is added before the first message and removed after
  // the actor's end
  private final ConcurrentSkipListMap<Integer, Subscriber<M>> ownedSubscribers = new ConcurrentSkipListMap<>();
  private final LongAdder droppedByEnded = new LongAdder();
  private final AtomicLong maxDropped = new AtomicLong(); // the greatest result of dropped()
  private volatile boolean isDiscardingQueued; // false -> true, by askExit and kill: queued messages are undelivered

  ActorTopic(ActorBuilder<? super M> builder) {
    this.builder = builder;
    owner = builder.strategy(Strategy.FIBER).<M>mailbox(OWNER_MAILBOX).newActor(this::publish);
    owner.closeOnExit(this::drain);
  }

  @Override
  public void publish(M message) {
    Objects.requireNonNull(message, "message");
    var currentSubscribers = subscribers;
    if (currentSubscribers == null) { // the topic is ending, so the message becomes a dead letter of the owner
      owner.sendMessage(message);
      return;
    }
    published.increment();
    AskCycleException cycle = null;
    for (var subscriber : currentSubscribers) {
      try {
        subscriber.deliver(message);
      } catch (AskCycleException failure) {
        if (cycle == null) cycle = failure;
        else cycle.addSuppressed(failure);
      }
    }
    if (cycle != null) throw cycle;
  }

  @Override
  public TopicStats stats() {
    var currentSubscribers = subscribers;
    return new TopicStats(published.sum(), delivered.sum(), refused.sum(), dropped(),
        currentSubscribers == null ? 0 : currentSubscribers.size());
  }

  /** Sums the drops, also of ended actors. Returns the maximum, as a counter must not shrink. */
  private long dropped() {
    long dropped = droppedByEnded.sum();
    for (var owned : ownedSubscribers.values()) dropped += owned.stats().dropped();
    return maxDropped.accumulateAndGet(dropped, Math::max);
  }

  @Override
  public List<SubscriberStats> subscribers() {
    var currentSubscribers = subscribers;
    return currentSubscribers == null ? List.of() : currentSubscribers.stream().map(Subscriber::stats).toList();
  }

  @Override
  public long droppedBy(Actor<?> actor) {
    return BlockBuilder.of(builder).droppedBy(actor);
  }

  @Override
  public void countDelivery(boolean isAccepted) {
    (isAccepted ? delivered : refused).increment();
  }

  @Override
  public String describe(M message) {
    return BlockBuilder.of(builder).describe(message);
  }

  @Override
  public boolean isDiscardingQueued() {
    return isDiscardingQueued;
  }

  @Override
  public Subscription subscribe(Actor<? super M> subscriber) {
    return enter(new ActorSubscriber<>(this, Objects.requireNonNull(subscriber, "subscriber"), false));
  }

  @Override
  public Subscription subscribeToLatest(Handler<M> subscriber) {
    return subscribe(BlockBuilder.of(builder).defaultMailbox(LATEST_MAILBOX), subscriber);
  }

  @Override
  public Subscription subscribe(Mailbox<? super M> mailbox, Handler<M> subscriber) {
    return subscribe(builder.<M>mailbox(Objects.requireNonNull(mailbox, "mailbox")), subscriber);
  }

  private Subscription subscribe(ActorBuilder<? super M> builder, Handler<M> subscriber) {
    Objects.requireNonNull(subscriber, "subscriber");
    if (subscribers == null) throw ended();
    int number = lastNumber.incrementAndGet();
    Actor<M> actor = BlockBuilder.of(builder).child(Integer.toString(number)).newActor(subscriber);
    ownedActors.put(number, actor);
    var subscription = new ActorSubscriber<>(this, actor, true);
    ownedSubscribers.put(number, subscription);
    actor.onExit().whenComplete((reason, failure) -> {
      ownedActors.remove(number);
      ownedSubscribers.remove(number);
      droppedByEnded.add(subscription.stats().dropped());
      leave(subscription);
    });
    try {
      return enter(subscription);
    } catch (IllegalStateException failure) {
      actor.askExit();
      throw failure;
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
    updateWatch(subscriber);
    return subscriber;
  }

  private IllegalStateException ended() {
    return new IllegalStateException("topic '" + name() + "' has ended and takes no subscriber; make a new one");
  }

  @Override
  public void leave(Subscriber<M> subscriber) {
    if (remove(candidate -> candidate == subscriber)) updateWatch(subscriber);
  }

  private synchronized boolean remove(Predicate<Subscriber<M>> condition) {
    if (subscribers == null || subscribers.stream().noneMatch(condition)) return false;
    subscribers = subscribers.stream().filter(condition.negate()).toList();
    return true;
  }

  private void updateWatch(Subscriber<M> subscriber) {
    if (subscriber.userActor != null) watch.watchOrForget(subscriber.userActor);
  }

  @Override
  public boolean hasSubscriber(Exitable userActor) {
    var currentSubscribers = subscribers;
    return currentSubscribers != null
        && currentSubscribers.stream().anyMatch(subscriber -> subscriber.userActor == userActor);
  }

  @Override
  public void forget(Exitable userActor) {
    remove(subscriber -> subscriber.userActor == userActor);
  }

  private void end(Consumer<Exitable> signal) {
    List<Subscriber<M>> lastSubscribers;
    synchronized (this) {
      lastSubscribers = subscribers == null ? List.of() : subscribers;
      subscribers = null;
    }
    ownedActors.values().forEach(signal);
    lastSubscribers.forEach(this::updateWatch);
  }

  @Override
  protected void drain() {
    end(Exitable::sendPoisonPill);
    // if the owner was cut off after its kill grace, its end does not wait for these actors
    if (!owner.onExit().isDone()) ownedActors.values().forEach(ForwardingGroup::awaitEnd);
  }

  @Override
  public void sendPoisonPill() {
    owner.sendPoisonPill();
    end(Exitable::sendPoisonPill);
  }

  @Override
  public void askExit() {
    isDiscardingQueued = true;
    owner.askExit();
    end(Exitable::askExit);
  }

  @Override
  public void kill() {
    isDiscardingQueued = true;
    ownedActors.values().forEach(Exitable::kill); // killed first, so that their kill grace is over before the owner's
    owner.kill();
    end(Exitable::kill); // also kills actors that were made during this method
  }

  @Override
  protected void refuseCycle() {
    for (var actor : ownedActors.values()) actor.waitForExit(Duration.ZERO);
  }

  @Override
  protected boolean isInMember() {
    return ownedActors.values().stream().anyMatch(ActorTopic::isInHandlerOf);
  }

  /** Returns whether the current thread runs the handler of the actor. */
  private static boolean isInHandlerOf(Exitable actor) {
    try {
      actor.waitForExit(Duration.ZERO);
      return false;
    } catch (RequestException cycle) {
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
