package io.fibry.jackson;

import io.fibry.support.RawTexts;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** No text of a user's object gets into a log or an exception as it is. */
class RawTextsRulesTest {
  /** Places at which a text is needed as it is, each with its reason. */
  private static final Map<String, String> REASONS = Map.ofEntries(
      Map.entry("JsonReader.java: text", "the JSON of a value that the mapper reads"),
      Map.entry("MappedType.java: less", "the JSON of a value that the mapper reads"));

  @Test
  void userObjectTextsAreWrittenSafely() throws IOException {
    RawTexts.check(REASONS);
  }
}
