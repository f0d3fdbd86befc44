package io.fibry.durable;

import io.fibry.text.Lines;

/**
 * A handler has handled this message before, at least in part, and now runs other steps, or the
 * steps in another order. The turn fails, because the stored results belong to the earlier steps.
 */
public final class StepMismatchException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /**
   * Makes an exception. Durable actors do this.
   *
   * @param actor the name of the actor
   * @param stepNumber the number of the step in its turn; the first is 1
   * @param stored the name of the step that is stored with this number
   * @param current the name of the step that the handler runs now
   */
  public StepMismatchException(String actor, int stepNumber, String stored, String current) {
    super(actor + " did step '" + Lines.line(stored) + "' as number " + stepNumber
        + " when this message came before, and now it does '" + Lines.line(current)
        + "'; keep the names and the order of the steps in a changed handler, or handle a new type of message");
  }
}
