package io.fibry.flow;

import io.fibry.ActorBuilder;
import io.fibry.Sink;
import io.fibry.mailbox.Mailbox;
import io.fibry.spi.BlockBuilder;
import java.util.Iterator;
import java.util.Objects;
import java.util.concurrent.Flow;
import java.util.concurrent.RejectedExecutionException;

/**
 * An actor that reads an iterator and passes on as many elements as were requested. It looks for an
 * element before one is requested, so that the end needs no request.
 *
 * <p>A cancel interrupts the actor inside the iterator, never in the subscriber's code. The monitor
 * guards all fields but the iterator, which only the actor uses.
 */
final class IteratorSubscription<T> implements Flow.Subscription {
  private static final int TASK_SIZE = 256;

  private final Iterable<T> sequence;
  private final Sink<Void> actor;
  private Iterator<T> iterator;
  private Flow.Subscriber<? super T> subscriber; // null after the end
  private long demand;
  private RuntimeException refusal;
  private boolean queued = true; // a task waits or runs, or `onSubscribe` runs
  private boolean reading;

  private IteratorSubscription(Sink<Void> actor, Iterable<T> sequence, Flow.Subscriber<? super T> subscriber) {
    this.actor = actor;
    this.sequence = sequence;
    this.subscriber = subscriber;
  }

  static <T> void open(ActorBuilder<?> builder, Iterable<T> sequence, Flow.Subscriber<? super T> subscriber) {
    Objects.requireNonNull(subscriber, "subscriber");
    Sink<Void> actor;
    try {
      actor = BlockBuilder.of(builder).mailbox(Mailbox.unbounded()).newSink();
    } catch (IllegalStateException | IllegalArgumentException refused) { // the scope is closed, or has the name
      refuse(subscriber, refused);
      return;
    }
    var subscription = new IteratorSubscription<>(actor, sequence, subscriber);
    subscription.actor.closeOnExit(subscription::close);
    try {
      subscriber.onSubscribe(subscription);
    } catch (Throwable failure) {
      subscription.abandon(failure);
    }
    subscription.queue();
  }

  /** Reactive Streams wants a subscription before a failure. */
  private static void refuse(Flow.Subscriber<?> subscriber, RuntimeException refused) {
    subscriber.onSubscribe(new Flow.Subscription() {
      @Override
      public void request(long n) {}

      @Override
      public void cancel() {}
    });
    tell(subscriber, refused);
  }

  @Override
  public void request(long n) {
    synchronized (this) {
      if (n <= 0) refusal = new IllegalArgumentException(
          "a subscriber asked for " + n + " elements; rule 3.9 of Reactive Streams wants at least 1");
      else demand = n > Long.MAX_VALUE - demand ? Long.MAX_VALUE : demand + n;
      if (subscriber == null || queued) return;
      queued = true;
    }
    queue();
  }

  private void queue() {
    try {
      actor.execute(this::work);
    } catch (RejectedExecutionException ended) {
      // cancelled, or `close` tells the end
    }
  }

  private void work() {
    try {
      for (int i = 0; i < TASK_SIZE; i++) if (!step()) return;
    } catch (Throwable failure) {
      abandon(failure);
      return;
    }
    queue(); // others may wait for this thread
  }

  /** Passes on one element; false ends the task. */
  private boolean step() {
    T element;
    try {
      if (!enter()) return false;
      if (iterator == null)
        iterator = Objects.requireNonNull(sequence.iterator(), "the sequence's iterator is null");
      if (!iterator.hasNext()) return finish(null);
      if (!claim()) return false;
      element = Objects.requireNonNull(iterator.next(), "an element of the sequence is null");
    } catch (Throwable failure) {
      return finish(failure);
    } finally {
      leave();
    }
    var to = subscriber();
    if (to != null) to.onNext(element);
    return to != null;
  }

  private synchronized boolean enter() {
    if (refusal != null) throw refusal;
    return reading = subscriber != null;
  }

  /** Takes one off the demand; false ends the task. */
  private synchronized boolean claim() {
    if (refusal != null) throw refusal;
    if (demand == 0) return queued = false;
    if (demand < Long.MAX_VALUE) demand--;
    return true;
  }

  private synchronized void leave() {
    reading = false;
  }

  private synchronized Flow.Subscriber<? super T> subscriber() {
    return subscriber;
  }

  @Override
  public void cancel() {
    boolean inside;
    synchronized (this) {
      if (subscriber == null) return;
      subscriber = null;
      inside = reading;
    }
    if (inside) actor.kill();
    else actor.sendPoisonPill();
  }

  private synchronized Flow.Subscriber<? super T> release() {
    var last = subscriber;
    subscriber = null;
    return last;
  }

  private boolean finish(Throwable failure) {
    var to = release();
    if (to == null) return false;
    actor.sendPoisonPill();
    tell(to, failure);
    return false;
  }

  private static void tell(Flow.Subscriber<?> subscriber, Throwable failure) {
    try {
      if (failure == null) subscriber.onComplete();
      else subscriber.onError(failure);
    } catch (Throwable thrown) {
      FlowSubscriber.LOG.error("a subscriber failed in onComplete or onError", thrown);
    }
  }

  private void abandon(Throwable failure) {
    release();
    actor.sendPoisonPill();
    FlowSubscriber.LOG.error("a subscriber failed, which cancels its subscription", failure);
  }

  private void close() throws Exception {
    var to = release();
    if (to != null) tell(to, new IllegalStateException("the actor that read the sequence was ended"));
    var open = iterator;
    iterator = null;
    if (open instanceof AutoCloseable closeable) closeable.close();
  }
}
