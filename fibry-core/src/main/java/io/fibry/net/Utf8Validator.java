package io.fibry.net;

/** Checks UTF-8 while it arrives, and refuses it at the first invalid byte. Used by one thread. */
final class Utf8Validator {
  private static final int LOWEST = 0x80;
  private static final int HIGHEST = 0xbf;

  private int missing; // bytes that the current character still needs
  // the range of the next byte of the current character
  private int low = LOWEST;
  private int high = HIGHEST;

  /** Returns whether these bytes, after all bytes before, are valid so far. */
  boolean accepts(byte[] bytes, int from, int count) {
    for (int i = from; i < from + count; i++) {
      int next = bytes[i] & 0xff;
      if (missing == 0) {
        if (next >= 0x80 && !beginCharacter(next)) return false;
      } else {
        if (next < low || next > high) return false;
        low = LOWEST;
        high = HIGHEST;
        missing--;
      }
    }
    return true;
  }

  /**
   * Begins a character of several bytes. Returns false if it is an overlong form, a surrogate or a
   * number that is too high.
   */
  private boolean beginCharacter(int first) {
    if (first < 0xc2 || first > 0xf4) return false;
    missing = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    switch (first) {
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
