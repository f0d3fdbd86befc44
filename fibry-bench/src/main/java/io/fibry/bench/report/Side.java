package io.fibry.bench.report;

/**
 * A side of comparisons: an implementation by Fibry, by another library, or by hand.
 *
 * @param description describes the side for readers who have not seen its code
 */
record Side(String name, Whose owner, String description) {

  enum Whose {
    OURS, OTHERS,
    /** Promises less than an actor: a yardstick, or the lower bound of the cost. */
    REFERENCE
  }

  static Side ours(String name, String words) {
    return new Side(name, Whose.OURS, words);
  }

  static Side other(String name, String words) {
    return new Side(name, Whose.OTHERS, words);
  }

  static Side reference(String name, String words) {
    return new Side(name, Whose.REFERENCE, words);
  }

  boolean isOurs() {
    return owner == Whose.OURS;
  }
}
