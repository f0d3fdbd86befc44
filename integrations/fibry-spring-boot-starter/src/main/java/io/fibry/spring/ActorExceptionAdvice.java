package io.fibry.spring;

import io.fibry.ActorStoppedException;
import io.fibry.AskTimeoutException;
import io.fibry.CircuitOpenException;
import io.fibry.MailboxFullException;
import io.fibry.RequestException;
import io.fibry.net.HttpException;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Responds with 503 and {@code Retry-After} if an actor or an executor refused a request, or if the
 * actor stopped before its reply. Responds with 504 if the reply is late, or if the request is
 * stored and will be handled later. Hides the texts of these exceptions, because they contain names
 * and messages. Responds to an {@link HttpException} with its status and text, which are for
 * clients. An advice of the application comes after this advice, unless the application's advice
 * has an order.
 */
@RestControllerAdvice
@Order(Ordered.LOWEST_PRECEDENCE - 1)
final class ActorExceptionAdvice {
  private final String retryAfterSeconds;

  ActorExceptionAdvice(Duration retryAfter) {
    this.retryAfterSeconds = String.valueOf(Math.max(1, retryAfter.plusNanos(999_999_999).toSeconds()));
  }

  @ExceptionHandler(RejectedExecutionException.class)
  ResponseEntity<ProblemDetail> serviceUnavailable() {
    return response(HttpStatus.SERVICE_UNAVAILABLE, "not available now; try again later");
  }

  /**
   * Responds with the status by {@link HttpException#statusOf}. If this status is 500, throws the
   * failure, so that Spring handles it like any other.
   *
   * @param failure the outermost failure of a request; Spring also calls this method if only a
   * cause of the failure has one of the types
   */
  @ExceptionHandler({MailboxFullException.class, ActorStoppedException.class, CircuitOpenException.class,
    AskTimeoutException.class})
  ResponseEntity<ProblemDetail> unanswered(RequestException failure) {
    return switch (HttpException.statusOf(failure)) {
      case 503 -> serviceUnavailable();
      case 504 -> response(HttpStatus.GATEWAY_TIMEOUT, "no answer in time");
      default -> throw failure;
    };
  }

  @ExceptionHandler(HttpException.class)
  ResponseEntity<ProblemDetail> chosenStatus(HttpException failure) {
    return response(HttpStatusCode.valueOf(failure.status()), failure.getMessage());
  }

  private ResponseEntity<ProblemDetail> response(HttpStatusCode status, String text) {
    var response = ResponseEntity.status(status);
    if (status.isSameCodeAs(HttpStatus.SERVICE_UNAVAILABLE))
      response.header(HttpHeaders.RETRY_AFTER, retryAfterSeconds);
    return response.body(ProblemDetail.forStatusAndDetail(status, text));
  }
}
