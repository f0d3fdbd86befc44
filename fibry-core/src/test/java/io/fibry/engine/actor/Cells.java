package io.fibry.engine.actor;

import io.fibry.engine.cell.Cell;
import io.fibry.engine.cell.Inside;
import io.fibry.engine.cell.OwningScope;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Envelope;
import java.util.concurrent.CompletableFuture;

/** Cells that tests make by hand, and what an actor's type does not let them do. */
public final class Cells {
  private Cells() {}

  /** An actor with the behavior of another one. */
  public static Cell like(Object actor) {
    return new ActorCell(Inside.behavior(actor));
  }

  public static void admit(OwningScope owner, String label, Cell cell) {
    (label == null ? DefaultActorBuilder.of(owner) : DefaultActorBuilder.of(owner).named(label)).admit(cell);
  }

  /** Sends without regard to the capacity. */
  public static void admit(Object actor, Object message) {
    ((GuardedCell) actor).addUnbounded(new Envelope(message, Baggage.of(null)));
  }

  /** A request, also if the protocol has none. */
  public static CompletableFuture<Object> sendRequest(Object actor, Object message) {
    return ((ActorCell) actor).sendMessageReturn(message);
  }
}
