package io.fibry.text;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
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
  void countOfOneHasNounInSingular() {
    assertEquals(List.of("0 messages", "1 message", "2 messages"),
        List.of(Lines.count(0, "message"), Lines.count(1, "message"), Lines.count(2, "message")));
  }

  @Test
  void longTextIsCutBeforeControlCharactersAreEscaped() {
    assertEquals("\\u0001".repeat(200) + "… (221 characters)", Lines.line("\u0001".repeat(221)));
  }
}
