package io.fibry.net.http;

import io.fibry.Handler;
import io.fibry.net.BodyCodec;
import io.fibry.net.ErrorBody;
import io.fibry.net.HttpRoutes.FailedExchange;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The settings that all routes of a table share. */
record RouteSettings(List<FailureRule<?>> rules, Optional<BodyCodec> bodyCodec, Optional<ErrorBody> errorBody,
    Optional<Duration> timeLimit) {
  static final RouteSettings NONE = new RouteSettings(List.of(), Optional.empty(), Optional.empty(), Optional.empty());

  /**
   * Responds to exceptions of one type.
   *
   * @param answer returns the text of the response; returns null if the status says all
   */
  record FailureRule<E>(Class<E> type, Handler.Returning<FailedExchange<E>, String> answer) {}

  /** Returns these settings, completed by the settings of the outer routes. */
  RouteSettings within(RouteSettings outer) {
    return new RouteSettings(Stream.concat(rules.stream(), outer.rules.stream()).toList(),
        bodyCodec.or(() -> outer.bodyCodec), errorBody.or(() -> outer.errorBody), timeLimit.or(() -> outer.timeLimit));
  }
}
