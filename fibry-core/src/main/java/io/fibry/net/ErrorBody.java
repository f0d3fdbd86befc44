package io.fibry.net;

import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Optional;

/** Makes the bodies of error responses, for example as JSON. */
@FunctionalInterface
public interface ErrorBody {
  /**
   * An error response that has no body yet.
   *
   * @param status 400 to 599
   * @param reason the reason of the status, such as "Not Found"
   * @param text the text that is sent if there is no {@code ErrorBody}: one line, or the text of an
   * {@link HttpException}
   * @param path the path of the request; empty if the request was malformed
   */
  record ErrorResponse(int status, String reason, String text, Optional<String> path) {}

  /**
   * A body with its type.
   *
   * @param mediaType such as {@code application/json}
   * @param text the body, which is sent as UTF-8
   */
  record Content(String mediaType, String text) {
    /**
     * Makes a body.
     *
     * @throws IllegalArgumentException if the media type is empty or not in ASCII
     */
    public Content {
      Objects.requireNonNull(text, "text");
      if (mediaType.isEmpty() || !mediaType.chars().allMatch(c -> c >= 0x20 && c < 0x7f))
        throw new IllegalArgumentException("'" + mediaType + "' cannot be the type of an error body; give a media "
            + "type such as application/json");
    }
  }

  /**
   * Makes the body of an error. If the method throws, the failure is logged, and the error is sent
   * as a text.
   *
   * @param error the error
   * @return the body
   */
  Content contentOf(ErrorResponse error);

  /**
   * {@return an error body that sends problem details in JSON (RFC 9457)} The title is the reason
   * of the status, the detail is the text, and the instance is the path.
   */
  static ErrorBody problemDetails() {
    return error -> new Content("application/problem+json", "{\"type\":\"about:blank\",\"title\":"
        + quoted(error.reason) + ",\"status\":" + error.status + ",\"detail\":" + quoted(error.text)
        + error.path.map(path -> ",\"instance\":" + quoted(encoded(path))).orElse("") + "}\n");
  }

  /** Returns the path as a part of a URI. */
  private static String encoded(String path) {
    var uri = new StringBuilder();
    for (byte b : path.getBytes(StandardCharsets.UTF_8)) {
      if (b > 0x20 && b < 0x7f && "\"#%<>?[\\]^`{|}".indexOf(b) < 0) uri.append((char) b);
      else uri.append(String.format("%%%02X", b));
    }
    return uri.toString();
  }

  private static String quoted(String text) {
    var json = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') json.append('\\').append(c);
      else if (c < 0x20 || c > 0x7e) json.append(String.format("\\u%04x", (int) c));
      else json.append(c);
    }
    return json.append('"').toString();
  }
}
