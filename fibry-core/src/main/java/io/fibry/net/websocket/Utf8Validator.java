package io.fibry.net.websocket;

/**
 * Checks a text in UTF-8 while its bytes arrive, and refuses the text at the first invalid byte.
 * Used by one thread.
 */
final class Utf8Validator {
  private static final int MIN_CONTINUATION = 0x80;
  private static final int MAX_CONTINUATION = 0xbf;

  private int missingBytes; // number of bytes of the current character that are missing
  // the range of the next byte of the current character
  private int minNext = MIN_CONTINUATION;
  private int maxNext = MAX_CONTINUATION;

  /** Returns whether the text is valid so far, with these further bytes. */
  boolean accepts(byte[] bytes, int start, int count) {
    for (int i = start; i < start + count; i++) {
      int next = bytes[i] & 0xff;
      if (missingBytes == 0) {
        if (next >= 0x80 && !beginCharacter(next)) return false;
      } else {
        if (next < minNext || next > maxNext) return false;
        minNext = MIN_CONTINUATION;
        maxNext = MAX_CONTINUATION;
        missingBytes--;
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
    missingBytes = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    switch (first) {
      case 0xe0 -> minNext = 0xa0;
      case 0xed -> maxNext = 0x9f;
      case 0xf0 -> minNext = 0x90;
      case 0xf4 -> maxNext = 0x8f;
      default -> {}
    }
    return true;
  }

  /** Returns whether the text does not end within a character. */
  boolean isComplete() {
    return missingBytes == 0;
  }
}
