package io.fibry.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class JsonTest {

  @Test
  void jsonKeepsOrderOfMapsAndLists() {
    assertEquals("{\"b\":1,\"a\":[true,\"x\",{\"c\":[]},{}]}",
        JsonText.of(JsonText.object("b", 1, "a", List.of(true, "x", JsonText.object("c", List.of()), Map.of()))));
  }

  @Test
  void finiteNumbersAreWrittenAndNonFiniteNumbersAreNull() {
    assertEquals("[0,-1,9223372036854775807,0.5,1.0E10,-0.1,null,null,null,0.5,null]",
        JsonText.of(List.of(0, -1L, Long.MAX_VALUE,
            0.5, 1e10, -0.1, Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, 0.5f, Float.NaN)));
  }

  @Test
  void quotesAndBackslashesAreEscaped() {
    assertEquals("\"a\\\"b\\\\c\"", JsonText.of("a\"b\\c"));
    assertEquals("{\"\\\"\":\"\"}", JsonText.of(JsonText.object("\"", "")));
  }

  @Test
  void htmlAndScriptCharactersAreEscaped() {
    assertEquals("\"\\u003c/script\\u003e\\u0026\\u0027\\u2028\"", JsonText.of("</script>&'\u2028"));
  }

  @Test
  void allCharactersAreWrittenAsPrintableAscii() {
    for (int c : IntStream.rangeClosed(0, 0xffff).toArray()) {
      var text = JsonText.of(String.valueOf((char) c));

      assertTrue(text.chars().allMatch(character -> character >= ' ' && character < 0x7f), () -> "character " + c);
      if (text.length() > 4) assertEquals(c, Integer.parseInt(text.substring(3, 7), 16), text);
    }
    assertEquals("\"\\u0000\\u000a\\u001f\\u007f\\u00e9\\ud83d\\ude00\\ud83d\"",
        JsonText.of("\0\n\u001f\u007f\u00e9\ud83d\ude00\ud83d"));
  }
}
