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
 * A subscription whose actor reads an iterator and gives the subscriber as many elements as the
 * subscriber has requested. The actor calls {@code hasNext} before an element is requested, so that
 * the end of the stream needs no request.
 *
 * <p>A cancellation interrupts the actor only while the actor is inside the iterator, never in the
 * subscriber's code. An iterator that ignores the interrupt is closed by the thread that cuts the
 * actor off, while the actor may still read it. The monitor guards all fields; no user code runs
 * under it.
 */
final class IteratorSubscription<T> implements Flow.Subscription {
  private static final int ELEMENTS_PER_TASK = 256;

  private final Iterable<T> sequence;
  private final Sink<Void> actor;
  private Iterator<T> iterator; // null before the first read and after the end
  private Flow.Subscriber<? super T> subscriber; // null after the end
  private long demand; // elements requested and not yet given
  private RuntimeException refusal; // the exception for an invalid request; null if all requests were valid
  private boolean isTaskPending = true; // a task waits or runs, or `onSubscribe` runs
  private boolean isReading; // the actor is inside the iterator
  private boolean isClosed; // an iterator that the sequence returns from now on is closed at once

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
    } catch (IllegalStateException | IllegalArgumentException failure) { // closed scope, or name taken
      refuse(subscriber, failure);
      return;
    }
    var subscription = new IteratorSubscription<>(actor, sequence, subscriber);
    subscription.actor.closeOnExit(subscription::close);
    try {
      subscriber.onSubscribe(subscription);
    } catch (Throwable failure) {
      subscription.abandon(failure);
    }
    subscription.queueTask();
  }

  /** Fails a subscriber. Reactive Streams demands {@code onSubscribe} before {@code onError}. */
  private static void refuse(Flow.Subscriber<?> subscriber, RuntimeException failure) {
    subscriber.onSubscribe(new Flow.Subscription() {
      @Override
      public void request(long n) {}

      @Override
      public void cancel() {}
    });
    signalEnd(subscriber, failure);
  }

  @Override
  public void request(long n) {
    synchronized (this) {
      if (n <= 0) refusal = new IllegalArgumentException(
          "a subscriber asked for " + n + " elements; rule 3.9 of Reactive Streams wants at least 1");
      else demand = n > Long.MAX_VALUE - demand ? Long.MAX_VALUE : demand + n;
      if (subscriber == null || isTaskPending) return;
      isTaskPending = true;
    }
    queueTask();
  }

  private void queueTask() {
    try {
      actor.execute(this::runTask);
    } catch (RejectedExecutionException ended) {
      // the actor has ended: the subscription was cancelled, or `close` notifies the subscriber of
      // the end
    }
  }

  private void runTask() {
    try {
      for (int i = 0; i < ELEMENTS_PER_TASK; i++) if (!step()) return;
    } catch (Throwable failure) {
      abandon(failure);
      return;
    }
    queueTask(); // a new task, so that other actors that wait for this thread run first
  }

  /** Gives the subscriber one element. Returns false if the task must end. */
  private boolean step() {
    T element;
    try {
      if (!beginRead()) return false;
      var elements = openIterator();
      if (elements == null || !elements.hasNext()) return finish(null);
      if (!takeDemand()) return false;
      element = Objects.requireNonNull(elements.next(), "an element of the sequence is null");
    } catch (Throwable failure) {
      return finish(failure);
    } finally {
      endRead();
    }
    var receiver = subscriber();
    if (receiver != null) receiver.onNext(element);
    return receiver != null;
  }

  private synchronized boolean beginRead() {
    if (refusal != null) throw refusal;
    return isReading = subscriber != null;
  }

  /**
   * Opens the iterator at the first call. Returns null if the actor was cut off. An iterator that
   * opens only after the cut-off is closed at once.
   */
  private Iterator<T> openIterator() {
    synchronized (this) {
      if (iterator != null || isClosed) return iterator;
    }
    var opened = Objects.requireNonNull(sequence.iterator(), "the sequence's iterator is null");
    synchronized (this) {
      if (!isClosed) return iterator = opened;
    }
    try {
      closeIterator(opened);
    } catch (Throwable failure) { // no subscriber is left that could be notified
      FlowSubscriber.LOG.error("an iterator that was opened after the end of its stream could not be closed", failure);
    }
    return null;
  }

  /**
   * Reduces the demand by one element. Returns false if there is no demand; the task must then end.
   */
  private synchronized boolean takeDemand() {
    if (refusal != null) throw refusal;
    if (demand == 0) return isTaskPending = false;
    if (demand < Long.MAX_VALUE) demand--;
    return true;
  }

  private synchronized void endRead() {
    isReading = false;
  }

  private synchronized Flow.Subscriber<? super T> subscriber() {
    return subscriber;
  }

  @Override
  public void cancel() {
    boolean wasReading;
    synchronized (this) {
      if (subscriber == null) return;
      subscriber = null;
      wasReading = isReading;
    }
    if (wasReading) actor.kill();
    else actor.sendPoisonPill();
  }

  private synchronized Flow.Subscriber<? super T> takeSubscriber() {
    var receiver = subscriber;
    subscriber = null;
    return receiver;
  }

  /** Completes the stream, or fails it if {@code failure} is not null. Always returns false. */
  private boolean finish(Throwable failure) {
    var receiver = takeSubscriber();
    if (receiver == null) return false;
    actor.sendPoisonPill();
    signalEnd(receiver, failure);
    return false;
  }

  private static void signalEnd(Flow.Subscriber<?> subscriber, Throwable failure) {
    try {
      if (failure == null) subscriber.onComplete();
      else subscriber.onError(failure);
    } catch (Throwable thrown) {
      FlowSubscriber.LOG.error("a subscriber failed in onComplete or onError", thrown);
    }
  }

  private void abandon(Throwable failure) {
    takeSubscriber();
    actor.sendPoisonPill();
    FlowSubscriber.LOG.error("a subscriber failed, which cancels its subscription", failure);
  }

  private void close() throws Exception {
    Flow.Subscriber<? super T> receiver;
    Iterator<T> openIterator;
    synchronized (this) {
      receiver = takeSubscriber();
      openIterator = iterator;
      iterator = null;
      isClosed = true;
    }
    if (receiver != null) signalEnd(receiver, new IllegalStateException("the actor that read the sequence was ended"));
    closeIterator(openIterator);
  }

  private static void closeIterator(Iterator<?> iterator) throws Exception {
    if (iterator instanceof AutoCloseable closeable) closeable.close();
  }
}
