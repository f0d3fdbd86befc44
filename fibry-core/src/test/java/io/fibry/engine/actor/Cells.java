package io.fibry.engine.actor;

import io.fibry.engine.cell.Cell;
import io.fibry.engine.cell.Inside;
import io.fibry.engine.cell.Owner;

/** Cells that tests make by hand. */
public final class Cells {
  private Cells() {}

  /** An actor with the behaviour of another one. */
  public static ActorCell like(Object actor) {
    return new ActorCell(Inside.behaviour(actor));
  }

  public static void admit(Owner owner, String label, Cell cell) {
    Blueprint.of(owner, label).admit(cell);
  }
}
