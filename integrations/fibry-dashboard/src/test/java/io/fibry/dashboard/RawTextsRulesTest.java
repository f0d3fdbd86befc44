package io.fibry.dashboard;

import io.fibry.support.RawTexts;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests that no log or exception contains the unescaped text of a user's object. */
class RawTextsRulesTest {
  /** The expressions whose text is needed unescaped, each with its reason. */
  private static final Map<String, String> REASONS = Map.ofEntries(
      Map.entry("JsonText.java: entry.getKey()", "addString(..) escapes it"),
      Map.entry("JsonText.java: number", "a number has no line breaks"),
      Map.entry("JsonText.java: value", "addString(..) escapes it"),
      Map.entry("ValuesPanel.java: value", "JsonText escapes it"));

  @Test
  void mainCodeEscapesUserTextExceptInListedPlaces() throws IOException {
    RawTexts.check(REASONS);
  }
}
