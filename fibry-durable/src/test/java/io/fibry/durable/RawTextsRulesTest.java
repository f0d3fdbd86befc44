package io.fibry.durable;

import io.fibry.support.RawTexts;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests that logs and exceptions contain texts of users only in escaped form. */
class RawTextsRulesTest {
  /** Code that needs a text without escapes, each with its reason. */
  private static final Map<String, String> REASONS = Map.ofEntries(
      Map.entry("EventViewReader.java: eventOrEnd", "the core shows it as a message"),
      Map.entry("StoredMessage.java: message", "the core shows it as a message"),
      Map.entry("LogStore.java: owner", "an id, or a text that the store composes"),
      Map.entry("RequestLimit.java: timeout", "a text of the core, with escapes"),
      Map.entry("StoreEvents.java: store", "the name of a store or of its disk"),
      Map.entry("ScalarShapes.java: value", "the text is stored"));

  @Test
  void mainCodeEscapesUserTextExceptInListedPlaces() throws IOException {
    RawTexts.check(REASONS);
  }
}
