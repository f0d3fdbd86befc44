package io.fibry.pubsub;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.Handler;
import io.fibry.block.SendStackProbe;
import io.fibry.block.Throwables;
import io.fibry.mailbox.Mailbox;
import io.fibry.spi.BlockBuilder;
import io.fibry.text.SafeLogger;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;

/**
 * Sends changes to the actor of a follower, one at a time. The next change is read when the actor
 * has handled the previous change. So a slow follower has no queue, and gets the latest change.
 *
 * <p>{@code IDLE -> BUSY <-> CHANGED_WHILE_BUSY, BUSY -> IDLE}. The thread that sets BUSY holds the
 * right to send. When this thread stores a change in {@link #pendingChange}, it gives up the right.
 * The thread that removes the change, after the handler, then holds the right. If the state is
 * CHANGED_WHILE_BUSY, the holder calls {@link #nextChange} once more. Only the holder calls this
 * method, so no change overtakes another.
 */
abstract class ChangeSubscription<E> implements Subscription {
  private static final Logger LOG = SafeLogger.of(Subscription.class);
  private static final int IDLE = 0;
  private static final int BUSY = 1;
  private static final int CHANGED_WHILE_BUSY = 2;

  private final BlockBuilder<?> builder;
  private final Actor<E> actor;
  private final AtomicInteger state = new AtomicInteger();
  // the change that is sent and not yet handled; null if a thread holds the right, or if the state
  // is IDLE
  private final AtomicReference<E> pendingChange = new AtomicReference<>();

  @SuppressWarnings("unchecked")
  ChangeSubscription(ActorBuilder<?> builder, int number, Handler<E> handler) {
    this.builder = BlockBuilder.of(builder);
    var childBuilder = (ActorBuilder<E>) BlockBuilder.of(builder).child(Integer.toString(number));
    actor = childBuilder.<E>mailbox(Mailbox.unbounded()).<E>intercept((change, next) -> {
      try {
        next.run();
      } finally { // also called if an interceptor of the user does not run the handler
        onHandled(change);
      }
    }).newActor(handler);
  }

  /** Returns the next change, or null if there is none. Called only by the holder of the right. */
  abstract E nextChange();

  abstract void leave();

  final void begin() {
    actor.onExit().whenComplete((reason, failure) -> leave());
    notifyChange();
  }

  /**
   * Notifies all followers, even if some cannot take the change. Throws the first failure
   * afterwards, with the others as suppressed exceptions.
   */
  static void notifyAll(Iterable<? extends ChangeSubscription<?>> followers) {
    Throwable failure = null;
    for (var follower : followers) try {
      follower.notifyChange();
    } catch (Throwable thrown) {
      if (failure == null) failure = thrown;
      else if (failure != thrown) failure.addSuppressed(thrown);
    }
    if (failure != null) throw Throwables.<RuntimeException>sneakyThrow(failure);
  }

  final void notifyChange() {
    SendStackProbe.probe(); // throws here if the stack is nearly full, before this thread gets the right
    if (actor.onExit().isDone()) leave(); // the callback set by `begin` may run later
    else if (state.getAndUpdate(current -> current == IDLE ? BUSY : CHANGED_WHILE_BUSY) == IDLE) deliver();
  }

  /**
   * Called after the handler. Only the first call for a change has an effect: if the failure policy
   * retries the change, this method is called again.
   */
  private void onHandled(E change) {
    if (pendingChange.compareAndSet(change, null)) deliver();
  }

  private void deliver() {
    boolean hasFailed = false;
    while (true) {
      state.set(BUSY);
      E change;
      try {
        change = nextChange();
      } catch (Throwable error) { // no memory, or thrown by a method of a key; the next change tries again
        boolean hasChanged = state.getAndSet(IDLE) == CHANGED_WHILE_BUSY;
        if (hasFailed || !hasChanged || !state.compareAndSet(IDLE, BUSY)) throw error;
        hasFailed = true;
        continue;
      }
      if (change == null ? state.compareAndSet(BUSY, IDLE) : send(change)) return;
    }
  }

  /**
   * Sends a change, and gives up the right to send. Returns false if the actor refused the change,
   * and this thread holds the right again.
   */
  private boolean send(E change) {
    pendingChange.set(change); // before the send, because the change may be handled at once
    try {
      actor.sendMessage(change);
      return true;
    } catch (Throwable refusal) {
      // thrown by a weight or key function, or because the stack is full; not rethrown, because
      // this thread may be the thread that has changed the value
      LOG.error("follower '{}' did not take {}", actor.name(), builder.describe(change), refusal);
      return !pendingChange.compareAndSet(change, null);
    }
  }

  @Override
  public void close() {
    leave();
    actor.askExit();
  }
}
