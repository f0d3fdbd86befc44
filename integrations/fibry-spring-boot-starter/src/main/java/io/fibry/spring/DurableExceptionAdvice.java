package io.fibry.spring;

import io.fibry.RequestException;
import io.fibry.durable.RequestStoredException;
import io.fibry.durable.StorageFailedException;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** Responds as {@link ActorExceptionAdvice} to failed requests to durable actors. */
@RestControllerAdvice
@Order(Ordered.LOWEST_PRECEDENCE - 1)
final class DurableExceptionAdvice {
  private final ActorExceptionAdvice responses;

  DurableExceptionAdvice(ActorExceptionAdvice responses) {
    this.responses = responses;
  }

  @ExceptionHandler({RequestStoredException.class, StorageFailedException.class})
  ResponseEntity<ProblemDetail> unanswered(RequestException failure) {
    return responses.unanswered(failure);
  }
}
