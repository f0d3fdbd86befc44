package io.fibry;

/** Whether a request that got no answer is handled: so whether it may be sent again. */
public enum Outcome {
  /** It was not handled, and never will be. Sent again, it is not done twice. */
  NOT_DONE,
  /**
   * It is stored, and its turn counts once without being sent again: now, later, or already. If its
   * handler throws when nobody waits for it any more, it is put aside for an operator.
   */
  WILL_BE_DONE,
  /** It may have been handled, may be handled later, or not at all. */
  UNKNOWN
}
