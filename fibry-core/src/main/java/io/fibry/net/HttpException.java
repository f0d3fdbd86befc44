package io.fibry.net;

import io.fibry.ActorStoppedException;
import io.fibry.AskTimeoutException;
import io.fibry.RequestException;
import io.fibry.block.Throwables;
import java.util.Objects;

/**
 * Thrown by a handler to end its exchange: the response has this status and text, and the headers
 * that were set so far. An {@link ErrorBody} of the routes gives the text another form. The
 * exception is logged only if the status is 500 or above, and not 503. A handler of a WebSocket may
 * throw it, too (see {@link WebSocketConnection}).
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

  /**
   * Returns the status with which an {@link HttpServer} responds if a handler throws this failure.
   * Other web servers that ask actors can respond with the same status.
   *
   * <p>The status is 503 if an actor refused the request or has ended, or if a circuit breaker is
   * open. It is also 503 if the request was not handled for another reason, such as an unavailable
   * node; the outcome is then {@link io.fibry.RequestOutcome#NOT_DONE}. A response with this status
   * should have the header {@code Retry-After}. The status is 504 if the answer is late, even if
   * the request is stored and will be handled later. An {@code HttpException} has its own status,
   * and any other failure has 500. A handler that exceeds the
   * {@linkplain HttpRoutes#withTimeLimit time limit} of its route gets 504 for any exception but an
   * {@code HttpException}.
   *
   * @param failure the failure; a {@code RequestException} may be wrapped in the exceptions of
   * futures
   * @return the status, 300 to 599
   */
  public static int statusOf(Throwable failure) {
    return switch (Throwables.requestExceptionIn(Objects.requireNonNull(failure, "failure"))) {
      case HttpException thrown -> thrown.status;
      case ActorStoppedException stopped -> 503;
      case AskTimeoutException timeout -> 504;
      case RequestException unanswered -> switch (unanswered.outcome()) {
        case NOT_DONE -> 503; // such as a full mailbox or an open circuit breaker
        case WILL_BE_DONE -> 504;
        case UNKNOWN -> 500;
      };
      default -> 500;
    };
  }
}
