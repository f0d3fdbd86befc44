package io.fibry.simulation;

import io.fibry.support.RawTexts;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** No text of a user's object gets into a log or an exception as it is. */
class RawTextsRulesTest {
  /** Places at which a text is needed as it is, each with its reason. */
  private static final Map<String, String> REASONS = Map.ofEntries(
      Map.entry("RunFailure.java: cause", "for the report of a test, in full"),
      Map.entry("SeedSearch.java: stackTrace", "a text of the simulation's, with a line for each event"),
      Map.entry("MessageTrace.java: message", "text(..) removes line breaks"));

  @Test
  void userObjectTextsAreWrittenSafely() throws IOException {
    RawTexts.check(REASONS);
  }
}
