package io.fibry.pubsub;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.Handler;
import io.fibry.block.SendStackProbe;
import io.fibry.mailbox.Mailbox;
import io.fibry.spi.BlockBuilder;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells changes to an actor, one at a time. The next news is made when the last was handled, so a
 * slow follower has no queue and is told the latest.
 *
 * <p>{@code IDLE -> BUSY <-> AGAIN, BUSY -> IDLE}. The right to tell belongs to the thread that
 * makes it BUSY, then to the news {@link #inDelivery}, then to the thread that takes that out. A
 * change meanwhile makes it AGAIN: the holder looks once more. Only the holder asks for news, so no
 * news overtake others.
 */
abstract class ChangeSubscription<E> implements Subscription {
  private static final Logger LOG = LoggerFactory.getLogger(Subscription.class);
  private static final int IDLE = 0;
  private static final int BUSY = 1;
  private static final int CHANGED_WHILE_BUSY = 2;

  private final BlockBuilder<?> builder;
  private final Actor<E> actor;
  private final AtomicInteger state = new AtomicInteger();
  private final AtomicReference<E> inDelivery = new AtomicReference<>(); // null: a thread has it

  @SuppressWarnings("unchecked")
  ChangeSubscription(ActorBuilder<?> builder, int number, Handler<E> handler) {
    this.builder = BlockBuilder.of(builder);
    var typed = (ActorBuilder<E>) BlockBuilder.of(builder).child(Integer.toString(number));
    actor = typed.<E>mailbox(Mailbox.unbounded()).<E>intercept((news, next) -> {
      try {
        next.run();
      } finally { // even if user code around does not run it
        handled(news);
      }
    }).newActor(handler);
  }

  /** Null: nothing. Only the holder of the right calls it. */
  abstract E nextChange();

  abstract void leave();

  final void begin() {
    actor.onExit().whenComplete((reason, none) -> leave());
    notifyChange();
  }

  final void notifyChange() {
    SendStackProbe.probe(); // here no right is taken
    if (actor.onExit().isDone()) leave(); // code chained to the end may come later
    else if (state.getAndUpdate(now -> now == IDLE ? BUSY : CHANGED_WHILE_BUSY) == IDLE) deliver();
  }

  /** Only the first call counts, not a retry. */
  private void handled(E news) {
    if (inDelivery.compareAndSet(news, null)) deliver();
  }

  private void deliver() {
    while (true) {
      state.set(BUSY);
      E news = nextChange();
      if (news == null ? state.compareAndSet(BUSY, IDLE) : send(news)) return;
    }
  }

  /** Returns false if the news were not taken; then this thread has the right. */
  private boolean send(E news) {
    inDelivery.set(news); // first: it may be handled at once
    try {
      actor.sendMessage(news);
      return true;
    } catch (Throwable refusal) {
      // of a weigher, a key or a full stack: it must not harm the changer
      LOG.error("follower '{}' did not take {}", actor.name(), builder.describe(news), refusal);
      return !inDelivery.compareAndSet(news, null);
    }
  }

  @Override
  public void close() {
    leave();
    actor.askExit();
  }
}
