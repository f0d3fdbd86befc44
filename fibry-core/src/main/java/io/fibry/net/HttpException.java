package io.fibry.net;

import java.util.Objects;

/**
 * Ends the handling of an exchange: it is answered with this status and text, and with the headers
 * that were set so far. That is no failure of the server, so nothing is logged.
 */
@SuppressWarnings("serial") // its fields are
public final class HttpException extends RuntimeException {
  /** The status of the answer. */
  private final int status;

  /**
   * An answer.
   *
   * @param status 300 to 599
   * @param text for the client
   */
  public HttpException(int status, String text) {
    super(Objects.requireNonNull(text, "text"));
    if (status < 300 || status > 599)
      throw new IllegalArgumentException("a status of " + status + " needs no exception; give 300 to 599");
    this.status = status;
  }

  /** {@return the status of the answer} */
  public int status() {
    return status;
  }
}
