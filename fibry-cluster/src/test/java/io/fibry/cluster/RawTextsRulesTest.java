package io.fibry.cluster;

import io.fibry.support.RawTexts;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests that logs and exceptions contain texts of users only in escaped form. */
class RawTextsRulesTest {
  /** The places that use a text unchanged, each with the reason. */
  private static final Map<String, String> REASONS = Map.ofEntries(
      Map.entry("OutboundTell.java: message", "the core shows it as a message"),
      Map.entry("OutboundStore.java: message", "the core shows it as a message"));

  @Test
  void mainCodeEscapesUserTextExceptInListedPlaces() throws IOException {
    RawTexts.check(REASONS);
  }
}
