package io.fibry.engine.cell;

/**
 * The name, the protocol and the counts of an actor, and its extras. An actor without a protocol
 * gets this object when it first needs counts or extras; until then its cell refers to the name.
 */
final class NameAndCounts {
  final String label; // null if the actor has no name
  final Class<?> protocol; // null if the actor has none
  volatile long handled; // how many messages were handled; set by the drain, read by observers
  volatile long failed; // how many messages failed; set by the drain, read by observers
  private volatile ColdState extras; // null until first needed

  NameAndCounts(String label, Class<?> protocol) {
    this.label = label;
    this.protocol = protocol;
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
