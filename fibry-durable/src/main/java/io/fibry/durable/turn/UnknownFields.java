package io.fibry.durable.turn;

/**
 * The fields of a loaded actor that only newer code knows. They would be lost if this code stored
 * the actor's state or notes again.
 *
 * @param inState name of such a field in the state or an event; empty if none
 * @param inNotes name of such a field in a note, which a newer library has written; empty if none
 */
record UnknownFields(String inState, String inNotes) {
  static final UnknownFields NONE = new UnknownFields("", "");

  boolean hasAny() {
    return !inState.isEmpty() || !inNotes.isEmpty();
  }

  /** Returns the name of one of the fields. */
  String field() {
    return inState.isEmpty() ? inNotes : inState;
  }

  /** Returns whether a turn would lose fields, because it stores the state, or erases the actor. */
  boolean wouldLoseFields(boolean storesState, boolean erasesActor) {
    return erasesActor ? !inNotes.isEmpty() : storesState && !inState.isEmpty();
  }
}
