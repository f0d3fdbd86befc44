package io.fibry.durable;

/**
 * Fields that were read of an actor, and that only newer code knows. They would be lost if all that
 * was read of it was written again.
 *
 * @param inState in the state or in an event; empty if there is none
 * @param inNotes in notes that a newer version of the library has written; empty if there is none
 */
record UnknownFields(String inState, String inNotes) {
  static final UnknownFields NONE = new UnknownFields("", "");

  boolean hasAny() {
    return !inState.isEmpty() || !inNotes.isEmpty();
  }

  /** One of them. */
  String field() {
    return inState.isEmpty() ? inNotes : inState;
  }

  /** Where the turn stores the next state, or begins the actor again with its notes. */
  boolean isErasedBy(boolean changed, boolean ended) {
    return ended ? !inNotes.isEmpty() : changed && !inState.isEmpty();
  }
}
