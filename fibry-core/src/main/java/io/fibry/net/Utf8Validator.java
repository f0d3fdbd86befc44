package io.fibry.net;

/**
 * Checks UTF-8 as it comes, and refuses it at the first byte that cannot be right. Belongs to one
 * thread.
 */
final class Utf8Validator {
  private static final int LOWEST = 0x80;
  private static final int HIGHEST = 0xbf;

  private int missing; // bytes of the character
  // what the next one of them may be
  private int low = LOWEST;
  private int high = HIGHEST;

  boolean accepts(byte[] bytes, int from, int count) {
    for (int i = from; i < from + count; i++) {
      int one = bytes[i] & 0xff;
      if (missing == 0) {
        if (one >= 0x80 && !begins(one)) return false;
      } else {
        if (one < low || one > high) return false;
        low = LOWEST;
        high = HIGHEST;
        missing--;
      }
    }
    return true;
  }

  /**
   * Begins a character of several bytes, and refuses overlong forms, surrogates and numbers that
   * are too high.
   */
  private boolean begins(int one) {
    if (one < 0xc2 || one > 0xf4) return false;
    missing = one < 0xe0 ? 1 : one < 0xf0 ? 2 : 3;
    switch (one) {
      case 0xe0 -> low = 0xa0;
      case 0xed -> high = 0x9f;
      case 0xf0 -> low = 0x90;
      case 0xf4 -> high = 0x8f;
      default -> {}
    }
    return true;
  }

  /** Returns whether the text does not end within a character. */
  boolean isComplete() {
    return missing == 0;
  }
}
