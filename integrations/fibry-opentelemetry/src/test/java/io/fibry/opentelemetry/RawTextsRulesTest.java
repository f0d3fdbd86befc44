package io.fibry.opentelemetry;

import io.fibry.support.RawTexts;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests that no log or exception contains the unescaped text of a user's object. */
class RawTextsRulesTest {
  @Test
  void mainCodeEscapesUserTextExceptInListedPlaces() throws IOException {
    RawTexts.check(Map.of());
  }
}
