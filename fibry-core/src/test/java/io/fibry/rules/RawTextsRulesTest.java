package io.fibry.rules;

import io.fibry.support.RawTexts;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Checks that texts of users are escaped in logs and exceptions. */
class RawTextsRulesTest {
  /** Expressions whose text needs no escaping, each with its reason. */
  private static final Map<String, String> REASONS = Map.ofEntries(
      Map.entry("HttpConversation.java: thrown", "the text of an HttpException is for the client"),
      Map.entry("ServerWebSocket.java: thrown", "the text of an HttpException is for the client"),
      Map.entry("ListenerSocket.java: listener", "the text of a Listener"),
      Map.entry("DefaultEntities.java: key", "part(..) escapes it"),
      Map.entry("PoolEntry.java: receiver", "the text of the pool"),
      Map.entry("ReadLimit.java: client", "the text of a ClientSocket"),
      Map.entry("RequestException.java: super", "the text was escaped when it was created"),
      Map.entry("TcpListener.java: kind", "a text or an object of the library"));

  @Test
  void mainCodeEscapesUserTextExceptInListedPlaces() throws IOException {
    RawTexts.check(REASONS);
  }
}
