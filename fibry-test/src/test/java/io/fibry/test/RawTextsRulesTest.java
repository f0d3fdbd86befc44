package io.fibry.test;

import io.fibry.support.RawTexts;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests that no log entry or exception contains the unescaped text of an object of a user. */
class RawTextsRulesTest {
  /** The places that need an unescaped text, each with its reason. */
  private static final Map<String, String> REASONS = Map.ofEntries(
      Map.entry("GoldenFiles.java: refused", "for the assertion of a test; a codec writes it safely"),
      Map.entry("GoldenFiles.java: unreadable", "for the assertion of a test; a codec writes it safely"),
      Map.entry("Probe.java: List.copyOf(untakenMessages)", "for the assertion of a test, in full"),
      Map.entry("Probe.java: message", "for the assertion of a test, in full"),
      Map.entry("Probe.java: messages()", "for the assertion of a test, in full"),
      Map.entry("TestScope.java: message", "for the assertion of a test, in full"),
      Map.entry("TestServer.java: failure.getCause()", "for the assertion of a test, in full"));

  @Test
  void mainCodeEscapesUserTextExceptInListedPlaces() throws IOException {
    RawTexts.check(REASONS);
  }
}
