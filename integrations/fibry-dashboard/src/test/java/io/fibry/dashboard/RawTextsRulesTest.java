package io.fibry.dashboard;

import io.fibry.support.RawTexts;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** No text of a user's object gets into a log or an exception as it is. */
class RawTextsRulesTest {
  /** Places at which a text is needed as it is, each with its reason. */
  private static final Map<String, String> REASONS = Map.ofEntries(
      Map.entry("JsonText.java: entry.getKey()", "addString(..) escapes it"),
      Map.entry("JsonText.java: number", "a number has no line breaks"),
      Map.entry("JsonText.java: value", "addString(..) escapes it"));

  @Test
  void userObjectTextsAreWrittenSafely() throws IOException {
    RawTexts.check(REASONS);
  }
}
