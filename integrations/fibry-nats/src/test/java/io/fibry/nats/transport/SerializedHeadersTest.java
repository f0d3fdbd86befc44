package io.fibry.nats.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nats.client.impl.Headers;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests that serialized headers have the bytes that the client would make. */
class SerializedHeadersTest {
  private static Map<String, String> texts() {
    var texts = new LinkedHashMap<String, String>();
    texts.put("Fb-Id", "a.1-2.7");
    texts.put("Fb-Keep", "");
    texts.put("Fb-K", " käse: 50 %\r\n");
    return texts;
  }

  private static Headers clientHeaders() {
    var headers = new Headers();
    texts().forEach((name, text) -> headers.put(name, WireMessageConverter.encode(text)));
    return headers;
  }

  @Test
  void bytesEqualThoseOfClient() {
    var expected = clientHeaders();
    var inOrderOfClient = new LinkedHashMap<String, String>();
    expected.keySet().forEach(name -> inOrderOfClient.put(name, texts().get(name)));
    var headers = SerializedHeaders.of(inOrderOfClient);

    assertEquals(new String(expected.getSerialized(), StandardCharsets.US_ASCII),
        new String(headers.getSerialized(), StandardCharsets.US_ASCII));
    assertEquals(expected.serializedLength(), headers.serializedLength());
    byte[] expectedTarget = new byte[expected.serializedLength() + 5];
    byte[] target = new byte[expectedTarget.length];
    assertEquals(expected.serializeToArray(3, expectedTarget), headers.serializeToArray(3, target));
    assertArrayEquals(expectedTarget, target);
  }

  @Test
  void clientDoesNotCopyHeaders() {
    var headers = SerializedHeaders.of(texts());

    assertTrue(headers.isReadOnly());
    assertEquals(3, headers.size());
    assertEquals(false, headers.isEmpty());
  }

  @Test
  void invalidNameIsRefused() {
    for (var name : List.of("", "a:b", "a b", "ä", "a\n"))
      assertThrows(IllegalArgumentException.class, () -> SerializedHeaders.of(Map.of(name, "x")), name);
  }
}
