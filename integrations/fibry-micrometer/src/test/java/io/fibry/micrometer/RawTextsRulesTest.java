package io.fibry.micrometer;

import io.fibry.support.RawTexts;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** No text of a user's object gets into a log or an exception as it is. */
class RawTextsRulesTest {
  @Test
  void userObjectTextsAreWrittenSafely() throws IOException {
    RawTexts.check(Map.of());
  }
}
