package io.fibry.net;

import io.fibry.text.Escapes;
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
    return error -> {
      var json = new StringBuilder("{\"type\":\"about:blank\",\"title\":");
      Escapes.appendJson(error.reason, "", json);
      json.append(",\"status\":").append(error.status).append(",\"detail\":");
      Escapes.appendJson(error.text, "", json);
      error.path.ifPresent(path -> {
        var uri = new StringBuilder();
        Escapes.appendPercentEncoded(path, "!$&'()*+,-./:;=@_~", uri);
        Escapes.appendJson(uri.toString(), "", json.append(",\"instance\":"));
      });
      return new Content("application/problem+json", json.append("}\n").toString());
    };
  }
}
