package io.fibry.block;

import io.fibry.ActorStats.ActorFailure;
import io.fibry.engine.cell.OwningScope.KeptFailure;
import java.time.Instant;

/**
 * A failure that a block keeps for its statistics. The text and the stack of the exception are made
 * when it is first read. Until then it keeps the exception in memory. Thread-safe.
 */
public final class FailureRecord {
  private final KeptFailure failure;

  public FailureRecord(Throwable thrown, Instant time) {
    this.failure = new KeptFailure(thrown, time);
  }

  /**
   * Returns the failure as statistics show it.
   *
   * @param mayShowMessage whether the scope of the block shows the contents of messages
   */
  public ActorFailure read(boolean mayShowMessage) {
    return failure.read(mayShowMessage);
  }
}
