package io.fibry.engine.cell;

/**
 * The name and the counts of an actor, and its extras. An actor without a name gets this object
 * when it first needs counts or extras.
 */
final class NameAndCounts {
  final String label; // null if the actor has no name
  final Class<?> type; // the protocol; null if the actor has none
  volatile long handled; // how many messages were handled; set by the drain, read by observers
  volatile long failed; // how many messages failed; set by the drain, read by observers
  private volatile ColdState extras; // null until first needed

  NameAndCounts(String label, Class<?> type) {
    this.label = label;
    this.type = type;
  }

  ColdState extrasOrNull() {
    return extras;
  }

  ColdState extras() {
    var currentExtras = extras;
    if (currentExtras != null) return currentExtras;
    synchronized (this) {
      if (extras == null) extras = new ColdState();
      return extras;
    }
  }
}
