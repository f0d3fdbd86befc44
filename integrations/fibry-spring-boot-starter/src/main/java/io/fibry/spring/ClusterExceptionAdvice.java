package io.fibry.spring;

import io.fibry.RequestException;
import io.fibry.cluster.UnavailableException;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** Responds as {@link ActorExceptionAdvice} to requests that did not reach another node. */
@RestControllerAdvice
@Order(Ordered.LOWEST_PRECEDENCE - 1)
final class ClusterExceptionAdvice {
  private final ActorExceptionAdvice responses;

  ClusterExceptionAdvice(ActorExceptionAdvice responses) {
    this.responses = responses;
  }

  @ExceptionHandler(UnavailableException.class)
  ResponseEntity<ProblemDetail> unanswered(RequestException failure) {
    return responses.unanswered(failure);
  }
}
