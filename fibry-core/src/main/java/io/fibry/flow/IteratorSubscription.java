package io.fibry.flow;

import io.fibry.ActorSystem;
import io.fibry.Sink;
import io.fibry.mailbox.Mailbox;
import java.util.Iterator;
import java.util.Objects;
import java.util.concurrent.Flow;
import java.util.concurrent.RejectedExecutionException;

/**
 * A subscription to a sequence: an actor that reads an iterator and hands on as much as was asked
 * for. It looks whether there is more as soon as it can, so that the end comes without being asked
 * for.
 *
 * <p>A cancel interrupts the actor while it is inside the iterator, and only there: never the
 * subscriber's code. All fields but the iterator, which is the actor's, are guarded by the monitor.
 */
final class IteratorSubscription<T> implements Flow.Subscription {
  private static final int BATCH = 256; // elements in one turn

  private final Iterable<T> sequence;
  private final Sink<Void> actor = ActorSystem.anonymous().mailbox(Mailbox.unbounded()).newSink();
  private Iterator<T> iterator; // null before the first look, and at the end
  private Flow.Subscriber<? super T> subscriber; // null once it is over
  private long demand;
  private RuntimeException refusal; // of a request that breaks the rules
  // a turn is on its way, or at work; at first, the subscriber is still being told of this
  private boolean queued = true;
  private boolean reading; // inside the iterator

  private IteratorSubscription(Iterable<T> sequence, Flow.Subscriber<? super T> subscriber) {
    this.sequence = sequence;
    this.subscriber = subscriber;
  }

  static <T> void open(Iterable<T> sequence, Flow.Subscriber<? super T> subscriber) {
    var outflow = new IteratorSubscription<>(sequence, Objects.requireNonNull(subscriber, "subscriber"));
    outflow.actor.closeOnExit(outflow::close);
    try {
      subscriber.onSubscribe(outflow);
    } catch (Throwable failure) {
      outflow.abandon(failure);
    }
    outflow.queue();
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
      // cancelled meanwhile; or `close` tells the subscriber
    }
  }

  // ---- the actor's turn

  private void work() {
    try {
      for (int i = 0; i < BATCH; i++) if (!step()) return;
    } catch (Throwable failure) {
      abandon(failure);
      return;
    }
    queue(); // others may have waited for this thread
  }

  /** One element; false if there is nothing to do now. Throws what the subscriber throws. */
  private boolean step() {
    T element;
    try {
      if (!enter()) return false;
      if (iterator == null) iterator = Objects.requireNonNull(sequence.iterator(), "the iterator of the sequence");
      if (!iterator.hasNext()) return finish(null);
      if (!claim()) return false;
      element = Objects.requireNonNull(iterator.next(), "an element of the sequence");
    } catch (Throwable failure) {
      return finish(failure);
    } finally {
      left();
    }
    var to = subscriber();
    if (to != null) to.onNext(element);
    return to != null;
  }

  private synchronized boolean enter() {
    if (refusal != null) throw refusal;
    return reading = subscriber != null;
  }

  /** Takes one off the demand; where there is none, the turn is over. */
  private synchronized boolean claim() {
    if (refusal != null) throw refusal;
    if (demand == 0) return queued = false;
    if (demand < Long.MAX_VALUE) demand--;
    return true;
  }

  private synchronized void left() {
    reading = false;
  }

  private synchronized Flow.Subscriber<? super T> subscriber() {
    return subscriber;
  }

  // ---- the end, however it comes: once, and the actor ends

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

  /** Null: nobody is left to be told. */
  private synchronized Flow.Subscriber<? super T> letGo() {
    var last = subscriber;
    subscriber = null;
    return last;
  }

  private boolean finish(Throwable failure) {
    var to = letGo();
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
      Flows.LOG.error("a subscriber failed when it was told the end of its stream", thrown);
    }
  }

  private void abandon(Throwable failure) {
    letGo();
    actor.sendPoisonPill();
    Flows.LOG.error("a subscriber failed, which cancels its subscription", failure);
  }

  /** The actor has ended. */
  private void close() throws Exception {
    var to = letGo();
    if (to != null) tell(to, new IllegalStateException("the actor that read the sequence was ended"));
    var open = iterator;
    iterator = null;
    if (open instanceof AutoCloseable closeable) closeable.close();
  }
}
