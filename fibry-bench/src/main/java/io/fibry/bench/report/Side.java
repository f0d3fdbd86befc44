package io.fibry.bench.report;

/**
 * A side of comparisons: an implementation by Fibry, by another library, or by hand.
 *
 * @param description describes the side for readers who have not seen its code
 */
record Side(String name, Owner owner, String description) {

  enum Owner {
    OURS, OTHERS,
    /** The side promises less than an actor: it is a yardstick, or the lower bound of the cost. */
    REFERENCE
  }

  static Side ours(String name, String words) {
    return new Side(name, Owner.OURS, words);
  }

  static Side other(String name, String words) {
    return new Side(name, Owner.OTHERS, words);
  }

  static Side reference(String name, String words) {
    return new Side(name, Owner.REFERENCE, words);
  }

  boolean isOurs() {
    return owner == Owner.OURS;
  }
}
