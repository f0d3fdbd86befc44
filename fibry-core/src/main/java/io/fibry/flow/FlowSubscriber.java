package io.fibry.flow;

import io.fibry.Actor;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Flow;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

/**
 * A stream that feeds an actor. Behind each half of what it may be ahead comes a mark, a task in
 * turn with the messages: when the actor comes to it, it has handled those before, and as many more
 * are asked for. Between two marks lies more than half, so never two of them wait. One that is
 * refused is tried again behind the next message, if there may be one.
 *
 * <p>The rules of {@code Flow} want the calls on a subscription one after the other: {@link #tell}
 * makes them, one thread at a time, outside the monitor.
 */
final class FlowSubscriber<M> implements Flow.Subscriber<M> {
  private final Actor<? super M> actor;
  private final int ahead;
  private final Consumer<Optional<Throwable>> end;
  private long arrived; // the publisher's, who calls one at a time, as the next one
  private long marked; // of those that arrived, up to the last mark that was taken
  private boolean subscribed; // guarded by the monitor, as all that follow
  private Flow.Subscription subscription; // null before, and once it is over
  private long handled; // up to the last mark that the actor came to
  private long requested;
  private long due; // to be requested
  private boolean cancels; // to be cancelled
  private boolean telling; // somebody is in `tell`
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
    actor.onExit().thenAccept(reason -> cutOff(
        new CancellationException("actor '" + actor.name() + "' ended before its stream did: " + reason)));
    tell(ahead);
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
    if (isOver()) return; // cancelled, which the publisher did not know yet
    try {
      if (!actor.sendMessage(message)) cutOff(new RejectedExecutionException("actor '" + actor.name()
          + "' refused a message of its stream; give its mailbox room for " + ahead + " messages and one"));
      else if (needsMark()) mark();
    } catch (RuntimeException refused) { // by who would wait for himself, say
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
    // at once: on the sender's thread the next messages may come from inside the mark
    marked = arrived;
    try {
      actor.execute(new Mark(this, arrived));
    } catch (RejectedExecutionException refused) {
      if (!mayMoreCome()) throw refused;
      marked = before;
    }
  }

  private synchronized boolean mayMoreCome() {
    return requested > arrived;
  }

  /** A record for its text, should it become a dead letter. */
  private record Mark(FlowSubscriber<?> inflow, long upTo) implements Runnable {
    @Override
    public void run() {
      inflow.handled(upTo);
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
    tell(more);
  }

  /** Asks for more, or cancels, unless another thread is at it: that will do it then. */
  private void tell(long more) {
    synchronized (this) {
      due += more;
      if (telling) return;
      telling = true;
    }
    try {
      while (tellOnce()) {
      }
    } catch (Throwable failure) { // the publisher's
      synchronized (this) {
        telling = false;
      }
      if (!cutOff(failure))
        Flows.LOG.error("the stream of actor '{}' failed when it was told something", actor.name(), failure);
    }
  }

  /** False: there is nothing to be told. */
  private boolean tellOnce() {
    Flow.Subscription to;
    long n;
    synchronized (this) {
      to = subscription;
      n = cancels ? 0 : due;
      due = 0;
      if (to == null || n == 0 && !cancels) return telling = false;
      if (cancels) subscription = null;
      requested += n;
    }
    if (n > 0) to.request(n);
    else to.cancel();
    return true;
  }

  // ---- the end, however it comes: once, and the actor gets its pill

  @Override
  public void onComplete() {
    if (finish(false)) leave(Optional.empty());
  }

  @Override
  public void onError(Throwable failure) {
    Objects.requireNonNull(failure, "failure");
    if (finish(false)) leave(Optional.of(failure));
  }

  /** False: it was over. */
  private boolean cutOff(Throwable why) {
    if (!finish(true)) return false;
    tell(0);
    leave(Optional.of(why));
    return true;
  }

  /** At the end of the stream itself the subscription is not to be touched any more. */
  private synchronized boolean finish(boolean cancels) {
    if (over) return false;
    over = true;
    this.cancels = cancels;
    if (!cancels) subscription = null;
    return true;
  }

  private void leave(Optional<Throwable> how) {
    actor.sendPoisonPill();
    try {
      end.accept(how);
    } catch (Throwable failure) {
      Flows.LOG.error("who was to be told that the stream of actor '{}' has ended failed", actor.name(), failure);
    }
  }
}
