package io.fibry.text;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class LinesTest {
  private static final String EMOJI = "\ud83d\ude00";

  @Test
  void longTextIsNotCutInsideSurrogatePair() {
    String text = "x".repeat(199) + EMOJI + "x".repeat(100);

    assertEquals("x".repeat(199) + "… (301 characters)", Lines.line(text));
    assertEquals("x".repeat(198) + EMOJI + "… (300 characters)", Lines.line(text.substring(1)));
  }

  @Test
  void longTextIsCutBeforeControlCharactersAreEscaped() {
    assertEquals("\\u0001".repeat(200) + "… (221 characters)", Lines.line("\u0001".repeat(221)));
  }
}
