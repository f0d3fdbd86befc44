package io.fibry.flow;

import io.fibry.Actor;
import io.fibry.spi.StableAddress;
import io.fibry.text.Lines;
import io.fibry.text.SafeLogger;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Flow;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.slf4j.Logger;

/**
 * Sends the elements of a stream to an actor, and requests more when the actor has handled them.
 * For this it puts marks between the messages in the mailbox. A mark is a task that requests as
 * many elements as were handled since the previous mark. A new mark follows when more than {@code
 * maxUnhandled / 2} messages have arrived since the last mark, so at most one mark waits in the
 * mailbox. If the mailbox refuses a mark, a mark follows the next message; if no further
 * message is expected, the subscription is cancelled.
 *
 * <p>Calls of a {@code Flow.Subscription} must not overlap. Therefore only {@link #signal} makes
 * these calls, on one thread at a time and outside the monitor.
 */
final class FlowSubscriber<M> implements Flow.Subscriber<M> {
  static final Logger LOG = SafeLogger.of("io.fibry.flow.FlowBridges"); // the public class, which users know

  private final Actor<? super M> actor;
  private final int maxUnhandled;
  private final Consumer<Optional<Throwable>> endCallback;
  // number of messages from the publisher; used by the publisher's thread only, like the next field
  private long arrivals;
  private long lastMarkPosition; // number of messages before the last mark that the mailbox accepted
  private boolean isSubscribed; // guarded by the monitor, like all fields below
  private Flow.Subscription subscription;
  private long handledCount; // number of messages before the last mark that ran
  private long requestedCount; // elements requested so far
  private long pendingDemand; // elements to be requested by `signal`
  private boolean mustCancel; // `signal` must cancel the subscription
  private boolean isSignaling; // a thread is in `signal`
  private boolean hasEnded;

  FlowSubscriber(Actor<? super M> actor, int maxUnhandled, Consumer<Optional<Throwable>> endCallback) {
    this.actor = actor;
    this.maxUnhandled = maxUnhandled;
    this.endCallback = endCallback;
  }

  @Override
  public void onSubscribe(Flow.Subscription subscription) {
    Objects.requireNonNull(subscription, "subscription");
    if (!accept(subscription)) {
      subscription.cancel();
      return;
    }
    StableAddress.owner(actor).onExit().thenAccept(reason -> cutOff(
        new CancellationException("actor '" + actor.name() + "' ended before its stream did: " + reason)));
    signal(maxUnhandled);
  }

  private synchronized boolean accept(Flow.Subscription subscription) {
    if (isSubscribed) return false;
    isSubscribed = true;
    this.subscription = subscription;
    return true;
  }

  @Override
  public void onNext(M message) {
    Objects.requireNonNull(message, "message");
    if (hasEnded()) return; // the stream was cancelled, which the publisher may not know yet
    try {
      if (!actor.sendMessage(message)) cutOff(new RejectedExecutionException("actor '" + actor.name()
          + "' refused a message of its stream; give its mailbox capacity for "
          + Lines.count(maxUnhandled + 1L, "message")));
      else if (needsMark()) mark();
    } catch (RuntimeException refusal) {
      cutOff(refusal);
    }
  }

  private synchronized boolean hasEnded() {
    return hasEnded;
  }

  private synchronized boolean needsMark() {
    arrivals++;
    return arrivals - lastMarkPosition > maxUnhandled / 2;
  }

  private void mark() {
    long previousPosition = lastMarkPosition;
    // set before `execute`, because the mark may run on this thread and request messages, and
    // `onNext` of these messages reads this field
    lastMarkPosition = arrivals;
    try {
      actor.execute(new ProgressMark(this, arrivals));
    } catch (RejectedExecutionException refusal) {
      if (!isMoreExpected()) throw refusal;
      lastMarkPosition = previousPosition;
    }
  }

  private synchronized boolean isMoreExpected() {
    return requestedCount > arrivals;
  }

  /**
   * A task in the mailbox. When it runs, the messages before it have been handled, so it requests
   * more elements. If it becomes a dead letter, the dead letter shows its text.
   */
  private record ProgressMark(FlowSubscriber<?> subscriber, long position) implements Runnable {
    @Override
    public void run() {
      subscriber.onMark(position);
    }

    @Override
    public String toString() {
      return "the mark behind message " + position + " of a stream";
    }
  }

  private void onMark(long position) {
    long newDemand;
    synchronized (this) {
      newDemand = position - handledCount;
      handledCount = position;
    }
    signal(newDemand);
  }

  /**
   * Requests more elements or cancels the subscription, unless another thread is in this method and
   * will do so.
   */
  private void signal(long newDemand) {
    synchronized (this) {
      pendingDemand += newDemand;
      if (isSignaling) return;
      isSignaling = true;
    }
    try {
      while (signalOnce()) {
      }
    } catch (Throwable failure) {
      synchronized (this) {
        isSignaling = false;
      }
      if (!cutOff(failure))
        LOG.error("the subscription of actor '{}' failed in request or cancel", actor.name(), failure);
    }
  }

  /** Calls the subscription once. Returns false if there is nothing to request or cancel. */
  private boolean signalOnce() {
    Flow.Subscription target;
    long count;
    synchronized (this) {
      target = subscription;
      count = mustCancel ? 0 : pendingDemand;
      pendingDemand = 0;
      if (target == null || count == 0 && !mustCancel) return isSignaling = false;
      if (mustCancel) subscription = null;
      requestedCount += count;
    }
    if (count > 0) target.request(count);
    else target.cancel();
    return true;
  }

  @Override
  public void onComplete() {
    if (finish(false)) endWith(Optional.empty());
  }

  @Override
  public void onError(Throwable failure) {
    Objects.requireNonNull(failure, "failure");
    if (finish(false)) endWith(Optional.of(failure));
  }

  private boolean cutOff(Throwable cause) {
    if (!finish(true)) return false;
    signal(0);
    endWith(Optional.of(cause));
    return true;
  }

  /**
   * Marks the stream as ended. Returns false if it had already ended. {@code mustCancel} is false
   * if the publisher ended the stream, because then the subscription must not be cancelled.
   */
  private synchronized boolean finish(boolean mustCancel) {
    if (hasEnded) return false;
    hasEnded = true;
    this.mustCancel = mustCancel;
    if (!mustCancel) subscription = null;
    return true;
  }

  private void endWith(Optional<Throwable> cause) {
    actor.sendPoisonPill();
    try {
      endCallback.accept(cause);
    } catch (Throwable failure) {
      LOG.error("the callback for the end of the stream of actor '{}' failed", actor.name(), failure);
    }
  }
}
