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
   * {@link HttpException} or of a failure rule
   * @param path the path of the request; empty if the server could not read it
   */
  record ErrorResponse(int status, String reason, String text, Optional<String> path) {
    /**
     * {@return the text without the status and the reason before it, such as "404 Not Found: ";
     * empty if there is no more text}
     */
    public Optional<String> detail() {
      var statusAndReason = status + " " + reason;
      if (text.equals(statusAndReason)) return Optional.empty();
      return Optional.of(text.startsWith(statusAndReason + ": ") ? text.substring(statusAndReason.length() + 2) : text);
    }
  }

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
   * of the status. The detail is {@link ErrorResponse#detail()}, and the instance is the path; an
   * empty one is left out.
   */
  static ErrorBody problemDetails() {
    return error -> {
      var json = new StringBuilder("{\"type\":\"about:blank\",\"title\":");
      Escapes.appendJson(error.reason, "", json);
      json.append(",\"status\":").append(error.status);
      error.detail().ifPresent(detail -> Escapes.appendJson(detail, "", json.append(",\"detail\":")));
      error.path.ifPresent(path -> {
        var uri = new StringBuilder();
        Escapes.appendPercentEncoded(path, "!$&'()*+,-./:;=@_~", uri);
        Escapes.appendJson(uri.toString(), "", json.append(",\"instance\":"));
      });
      return new Content("application/problem+json", json.append("}\n").toString());
    };
  }
}
