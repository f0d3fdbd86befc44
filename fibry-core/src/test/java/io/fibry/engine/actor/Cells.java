package io.fibry.engine.actor;

import io.fibry.engine.cell.ActorInternals;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.cell.OwningScope;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Envelope;
import java.util.concurrent.CompletableFuture;

/** Creates cells for tests, and calls operations that the public types of actors do not have. */
public final class Cells {
  private Cells() {}

  /** Creates a cell with the behavior of another actor. */
  public static Cell newCellLike(Object actor) {
    return new ActorCell(ActorInternals.behavior(actor));
  }

  public static void admit(OwningScope owner, String label, Cell cell) {
    (label == null ? DefaultActorBuilder.of(owner) : DefaultActorBuilder.of(owner).named(label)).admit(cell);
  }

  /** Sends a message, even if the mailbox is full. */
  public static void admit(Object actor, Object message) {
    ((GuardedCell) actor).addUnbounded(new Envelope(message, Baggage.of(null)));
  }

  /** Sends a request, even if the public type of the actor has no method for requests. */
  public static CompletableFuture<Object> sendRequest(Object actor, Object message) {
    return ((ActorCell) actor).sendMessageReturn(message);
  }
}
