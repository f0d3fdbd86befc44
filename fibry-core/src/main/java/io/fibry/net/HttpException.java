package io.fibry.net;

import java.util.Objects;

/**
 * Thrown by a handler to end its exchange: the response has this status and text, and the headers
 * that were set so far. An {@link ErrorBody} of the routes gives the text another form. The
 * exception does not count as a failure of the server, so nothing is logged.
 */
@SuppressWarnings("serial") // all its fields are serializable
public final class HttpException extends RuntimeException {
  /** The status of the response. */
  private final int status;

  /**
   * Makes an exception for this response.
   *
   * @param status 300 to 599
   * @param text the body of the response, for the client
   */
  public HttpException(int status, String text) {
    super(Objects.requireNonNull(text, "text"));
    if (status < 300 || status > 599)
      throw new IllegalArgumentException(
          "a status of " + status + " is not 300 to 599; set other statuses by HttpExchange.status(..)");
    this.status = status;
  }

  /** {@return the status of the response} */
  public int status() {
    return status;
  }
}
