package io.fibry.pubsub;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.Handler;
import io.fibry.mailbox.Mailbox;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who is told by an actor of its own what changed, one piece of news at a time: the next is made
 * when the one before was handled, so that a slow one has no queue and is told the latest.
 *
 * <p>{@code IDLE -> BUSY <-> AGAIN, BUSY -> IDLE}. Who makes it BUSY sends the news; from then on
 * the turn is the message's, and whoever takes that out of {@link #underWay} has the turn. What
 * changes meanwhile makes it AGAIN: who has the turn looks once more before he lets go. So none but
 * who has the turn asks for news, and news never overtake each other.
 */
abstract class Follower<E> implements Subscription {
  private static final Logger LOG = LoggerFactory.getLogger(Subscription.class);
  private static final int IDLE = 0;
  private static final int BUSY = 1;
  private static final int AGAIN = 2;

  private final Actor<E> actor;
  private final AtomicInteger turn = new AtomicInteger();
  // null: whoever has the turn has it in hand
  private final AtomicReference<E> underWay = new AtomicReference<>();

  @SuppressWarnings("unchecked") // what `how` may take is known to its user alone
  Follower(ActorBuilder<?> how, int number, Handler<E> handler) {
    var typed = (ActorBuilder<E>) how.part(Integer.toString(number));
    actor = typed.<E>mailbox(Mailbox.unbounded()).<E>around((news, next) -> {
      try {
        next.run();
      } finally { // outermost: also where the user's own code around the handler does not run it
        handled(news);
      }
    }).newActor(handler);
  }

  /** What it has not been told; null: nothing. Asked one at a time. */
  abstract E news();

  /** It is not to be told anything more. */
  abstract void leave();

  /** Once it can be told. */
  final void begin() {
    actor.onExit().whenComplete((reason, none) -> leave());
    tell();
  }

  /** Something changed. */
  final void tell() {
    if (turn.getAndUpdate(now -> now == IDLE ? BUSY : AGAIN) == IDLE) advance();
  }

  /** Only the first time: a policy that tries again calls the handler again. */
  private void handled(E news) {
    if (underWay.compareAndSet(news, null)) advance();
  }

  private void advance() {
    while (true) {
      turn.set(BUSY);
      E news = news();
      if (news == null ? turn.compareAndSet(BUSY, IDLE) : send(news)) return;
    }
  }

  /** False: it was not taken, and the turn is still ours. */
  private boolean send(E news) {
    underWay.set(news); // before it is sent: it may be handled at once
    try {
      actor.sendMessage(news);
      return true;
    } catch (Throwable refusal) {
      // of who weighs it, or asks for its key; or of the stack. It harms neither who changed
      // something nor the others
      LOG.error("follower '{}' did not take {}", actor.name(), news, refusal);
      return !underWay.compareAndSet(news, null);
    }
  }

  @Override
  public void close() {
    leave();
    actor.askExit();
  }
}
