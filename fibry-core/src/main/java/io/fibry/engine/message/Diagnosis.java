package io.fibry.engine.message;

import io.fibry.RequestException;
import io.fibry.engine.actor.PoolCell;
import io.fibry.engine.cell.Snapshot;

/**
 * Why an answer did not come in time: where the request is, and what its actor is doing instead.
 */
public record Diagnosis(String text, Snapshot.Here here) {
  /**
   * For a request that was not taken back yet: its place is looked for. Throws nothing: whatever
   * comes, the asker must be told that his time is over.
   */
  public static Diagnosis of(RequestFuture<?> asked) {
    try {
      return asked.begun() ? ofBegun(asked) : ofWaiting(asked);
    } catch (Throwable edge) { // of the stack, or of memory; or a clock of the user's
      return null;
    }
  }

  private static Diagnosis ofBegun(RequestFuture<?> asked) {
    if (asked.answered()) return new Diagnosis("its handler promised the answer for later", null);
    var worker = asked.cell.workerOn(asked);
    if (worker == null) return new Diagnosis("it had begun with it", null);
    var seen = Snapshot.at(worker).seen();
    return new Diagnosis("it had begun with it, and may still be at it; the actor " + seen.doing(), seen.here());
  }

  private static Diagnosis ofWaiting(RequestFuture<?> asked) {
    var cell = asked.cell;
    var extras = cell.richOrNull();
    var worker = cell.workerOn(asked);
    String turn = "its turn had not come, and will not";
    if (asked.place != null && asked.place.isOutside())
      turn += ": it waited for room in the mailbox, which holds " + cell.capacity();
    if (asked.place != null && asked.place.isGone())
      turn += cell instanceof PoolCell ? ": a worker was given it" : ": it was put aside";
    if (extras != null && extras.resting() != null)
      return new Diagnosis(turn + "; the actor rests before its restart", null);
    if (worker == null) return new Diagnosis(turn + "; the actor "
        + (cell.stranded != null
            ? "has been given no thread yet by " + RequestException.shown(cell.behaviour.how.strategy())
            : cell.isIdle() ? "is idle" : "is between two messages"),
        null);
    var look = Snapshot.at(worker);
    var seen = look.seen();
    return new Diagnosis(turn + look.place(asked) + "; the actor " + seen.doing(), seen.here());
  }
}
