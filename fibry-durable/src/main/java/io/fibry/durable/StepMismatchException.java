package io.fibry.durable;

import io.fibry.text.Lines;

/**
 * A handler does other steps, or in another order, than it did when the same message came before.
 * The turn fails, because no result can be guessed.
 */
public final class StepMismatchException extends RuntimeException {
  private static final long serialVersionUID = 1;

  StepMismatchException(String actor, int place, String stored, String now) {
    super(actor + " did step '" + Lines.line(stored) + "' as number " + place
        + " when this message came before, and now it does '" + Lines.line(now)
        + "'; let changed handlers keep the names and the order of their steps, or take another message");
  }
}
