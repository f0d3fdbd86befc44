package io.fibry.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.function.Executable;

final class NullAssertion {
  private NullAssertion() {}

  static void assertNullRefused(String text, Executable call) {
    assertEquals(text, assertThrows(NullPointerException.class, call).getMessage());
  }
}
