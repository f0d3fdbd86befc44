package io.fibry.flow;

import io.fibry.Actor;
import io.fibry.spi.LastingAddress;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Flow;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Feeds an actor from a stream. After each half of {@code ahead} it queues a mark between the
 * messages: a task that requests as many more as were handled before it. More than half lies
 * between two marks, so at most one waits. A refused mark is tried again behind the next message.
 *
 * <p>{@code Flow} demands serial calls on a subscription: {@link #signal} makes them, outside the
 * monitor.
 */
final class FlowSubscriber<M> implements Flow.Subscriber<M> {
  static final Logger LOG = LoggerFactory.getLogger("io.fibry.flow.Flows"); // whose callers read it

  private final Actor<? super M> actor;
  private final int ahead;
  private final Consumer<Optional<Throwable>> end;
  private long arrived; // used by the publisher only, as the next one
  private long marked; // messages before the last mark taken
  private boolean subscribed; // guarded by the monitor, as all below
  private Flow.Subscription subscription;
  private long handled; // messages before the last mark that ran
  private long requested;
  private long due; // to be requested
  private boolean cancels;
  private boolean signalling;
  private boolean over;

  FlowSubscriber(Actor<? super M> actor, int ahead, Consumer<Optional<Throwable>> end) {
    this.actor = actor;
    this.ahead = ahead;
    this.end = end;
  }

  @Override
  public void onSubscribe(Flow.Subscription subscription) {
    Objects.requireNonNull(subscription, "subscription");
    if (!take(subscription)) {
      subscription.cancel();
      return;
    }
    LastingAddress.owner(actor).onExit().thenAccept(reason -> cutOff(
        new CancellationException("actor '" + actor.name() + "' ended before its stream did: " + reason)));
    signal(ahead);
  }

  private synchronized boolean take(Flow.Subscription subscription) {
    if (subscribed) return false;
    subscribed = true;
    this.subscription = subscription;
    return true;
  }

  @Override
  public void onNext(M message) {
    Objects.requireNonNull(message, "message");
    if (isOver()) return; // the publisher may not know yet
    try {
      if (!actor.sendMessage(message)) cutOff(new RejectedExecutionException("actor '" + actor.name()
          + "' refused a message of its stream; give its mailbox room for " + (ahead + 1L) + " messages"));
      else if (needsMark()) mark();
    } catch (RuntimeException refused) {
      cutOff(refused);
    }
  }

  private synchronized boolean isOver() {
    return over;
  }

  private synchronized boolean needsMark() {
    arrived++;
    return arrived - marked > ahead / 2;
  }

  private void mark() {
    long before = marked;
    // first: the mark may run on this thread, and bring messages
    marked = arrived;
    try {
      actor.execute(new ProgressMark(this, arrived));
    } catch (RejectedExecutionException refused) {
      if (!isMoreExpected()) throw refused;
      marked = before;
    }
  }

  private synchronized boolean isMoreExpected() {
    return requested > arrived;
  }

  /** A dead letter shows its text. */
  private record ProgressMark(FlowSubscriber<?> subscriber, long upTo) implements Runnable {
    @Override
    public void run() {
      subscriber.handled(upTo);
    }

    @Override
    public String toString() {
      return "the mark behind message " + upTo + " of a stream";
    }
  }

  private void handled(long upTo) {
    long more;
    synchronized (this) {
      more = upTo - handled;
      handled = upTo;
    }
    signal(more);
  }

  /** Requests more or cancels, unless another thread in here will. */
  private void signal(long more) {
    synchronized (this) {
      due += more;
      if (signalling) return;
      signalling = true;
    }
    try {
      while (signalOnce()) {
      }
    } catch (Throwable failure) {
      synchronized (this) {
        signalling = false;
      }
      if (!cutOff(failure))
        LOG.error("the subscription of actor '{}' failed in request or cancel", actor.name(), failure);
    }
  }

  private boolean signalOnce() {
    Flow.Subscription to;
    long n;
    synchronized (this) {
      to = subscription;
      n = cancels ? 0 : due;
      due = 0;
      if (to == null || n == 0 && !cancels) return signalling = false;
      if (cancels) subscription = null;
      requested += n;
    }
    if (n > 0) to.request(n);
    else to.cancel();
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

  private boolean cutOff(Throwable why) {
    if (!finish(true)) return false;
    signal(0);
    endWith(Optional.of(why));
    return true;
  }

  /** A stream that has ended must not be cancelled. */
  private synchronized boolean finish(boolean cancels) {
    if (over) return false;
    over = true;
    this.cancels = cancels;
    if (!cancels) subscription = null;
    return true;
  }

  private void endWith(Optional<Throwable> cause) {
    actor.sendPoisonPill();
    try {
      end.accept(cause);
    } catch (Throwable failure) {
      LOG.error("the callback for the end of the stream of actor '{}' failed", actor.name(), failure);
    }
  }
}
