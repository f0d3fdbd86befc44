package io.fibry.spring;

import io.fibry.ActorStoppedException;
import io.fibry.AskTimeoutException;
import io.fibry.CircuitOpenException;
import io.fibry.MailboxFullException;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Answers 503 with {@code Retry-After} if an actor refused, and 504 if it was late. Hides the texts
 * of exceptions, which contain names and messages. An advice with an order precedes this one.
 */
@RestControllerAdvice
@Order(Ordered.LOWEST_PRECEDENCE - 1)
final class ActorExceptionAdvice {
  private final String seconds;

  ActorExceptionAdvice(Duration retryAfter) {
    this.seconds = String.valueOf(Math.max(1, retryAfter.plusNanos(999_999_999).toSeconds()));
  }

  @ExceptionHandler({MailboxFullException.class, ActorStoppedException.class, CircuitOpenException.class,
    RejectedExecutionException.class})
  ResponseEntity<ProblemDetail> refused() {
    return ResponseEntity.status(HttpStatus.SERVICE_UNAVAILABLE).header(HttpHeaders.RETRY_AFTER, seconds)
        .body(ProblemDetail.forStatusAndDetail(HttpStatus.SERVICE_UNAVAILABLE, "too much to do; try again later"));
  }

  @ExceptionHandler(AskTimeoutException.class)
  ResponseEntity<ProblemDetail> late() {
    return ResponseEntity.status(HttpStatus.GATEWAY_TIMEOUT)
        .body(ProblemDetail.forStatusAndDetail(HttpStatus.GATEWAY_TIMEOUT, "no answer in time"));
  }
}
