package io.fibry.store;

import java.util.Objects;

/**
 * Thrown when a turn would erase fields of its actor's stored state that this program does not
 * know, because newer code has written them. The turn is not stored. No field is lost: the store
 * keeps the state as it is, for a program that knows the fields.
 */
public final class FieldLossException extends StoreException {
  private static final long serialVersionUID = 1;

  /** The first unknown field, and its record. */
  private final String field;

  /**
   * Makes an exception; called by durable actors.
   *
   * @param actor the actor
   * @param turn the number of the turn that is not stored
   * @param field the first unknown field, and its record
   */
  public FieldLossException(Store.ActorId actor, long turn, String field) {
    super("turn " + turn + " of " + actor + " would erase " + Objects.requireNonNull(field, "field")
        + ", which is stored and which this program does not know: it runs older code than the program that has "
        + "stored it. A node that knows the field can handle the message, as this node can after its upgrade. "
        + "If the type had the field before, name it with evolution.ignoreRemoved(..)", null);
    this.field = field;
  }

  /** {@return the first unknown field, and its record} */
  public String fieldText() {
    return field;
  }
}
