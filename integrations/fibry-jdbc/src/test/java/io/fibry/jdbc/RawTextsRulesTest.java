package io.fibry.jdbc;

import io.fibry.support.RawTexts;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** No text of a user's gets into a log or an exception as it is. */
class RawTextsRulesTest {
  /** Places at which a text is needed as it is, each with its reason. */
  private static final Map<String, String> REASONS = Map.ofEntries(
      Map.entry("ReaderThreads.java: subject", "an id, or a text of the store's"),
      Map.entry("TableStore.java: subject", "an id, or a text of the store's"));

  @Test
  void textsOfUsersAreMadeSafe() throws IOException {
    RawTexts.check(REASONS);
  }
}
