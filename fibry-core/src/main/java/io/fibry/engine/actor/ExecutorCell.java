package io.fibry.engine.actor;

import io.fibry.DeadLetter.Reason;
import io.fibry.engine.cell.ActorBehavior;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Envelope;
import java.util.List;

/**
 * An actor that runs on an executor of the user. The executor's {@code shutdownNow} may drop a
 * drain of the actor that has not begun. Therefore each sender first checks whether the actor has
 * such a drain and its executor was shut down, and if so ends the actor.
 */
final class ExecutorCell extends ActorCell {
  ExecutorCell(ActorBehavior behavior) {
    super(behavior);
  }

  @Override
  protected Reason offer(Object node, Object message, Deadline deadline) {
    failIfExecutorShutDown();
    return super.offer(node, message, deadline);
  }

  @Override
  protected Reason offerBlock(List<?> messages, Baggage baggage) {
    failIfExecutorShutDown();
    return super.offerBlock(messages, baggage);
  }

  @Override
  protected void push(Envelope envelope) {
    failIfExecutorShutDown();
    super.push(envelope);
  }
}
