package io.fibry.simulation;

import io.fibry.support.RawTexts;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests that no log or exception contains the unescaped text of a user's object. */
class RawTextsRulesTest {
  /** The places that need an unescaped text, each with its reason. */
  private static final Map<String, String> REASONS = Map.ofEntries(
      Map.entry("RunFailure.java: cause", "for the report of a test, in full"),
      Map.entry("SeedSearch.java: stackTrace", "a text that the simulation writes, with a line for each event"),
      Map.entry("MessageTrace.java: message", "text(..) removes line breaks"));

  @Test
  void mainCodeEscapesUserTextExceptInListedPlaces() throws IOException {
    RawTexts.check(REASONS);
  }
}
