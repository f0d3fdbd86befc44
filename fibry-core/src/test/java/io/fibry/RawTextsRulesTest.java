package io.fibry;

import io.fibry.support.RawTexts;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** No text of a user's gets into a log or an exception as it is. */
class RawTextsRulesTest {
  /** Places at which a text is needed as it is, each with its reason. */
  private static final Map<String, String> REASONS = Map.ofEntries(
      Map.entry("HttpConversation.java: thrown", "the text of an HttpException is for the client"),
      Map.entry("ListenerSocket.java: listener", "a Listener"),
      Map.entry("DefaultEntities.java: key", "part(..) escapes it"),
      Map.entry("PoolEntry.java: receiver", "the pool"),
      Map.entry("ReadLimit.java: client", "a ClientSocket"),
      Map.entry("RequestException.java: super", "was made safe when it was made"),
      Map.entry("TcpListener.java: kind", "a text of the library's, or an object of its own"));

  @Test
  void userObjectTextsAreWrittenSafely() throws IOException {
    RawTexts.check(REASONS);
  }
}
