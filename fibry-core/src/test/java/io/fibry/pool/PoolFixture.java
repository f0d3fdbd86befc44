package io.fibry.pool;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.FailurePolicy;
import io.fibry.testing.Clock;
import io.fibry.testing.Gate;
import io.fibry.testing.RecordedLetters;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;

/** A scope on the system's clock and a scope on a manual clock, for tests of pools. */
abstract class PoolFixture {
  final RecordedLetters letters = new RecordedLetters();
  final Clock clock = new Clock();
  final ActorScope scope = ActorSystem.openScope("pools", o -> o.withDeadLetterListener(letters));
  final ActorScope manualScope = ActorSystem.openScope("still", o -> o.withScheduler(clock));
  final ActorBuilder<Object> builder = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog());

  @AfterEach
  void close() {
    Gate.openAll();
    scope.close();
    manualScope.close();
  }

  static void pass(Object message) throws InterruptedException {
    if (message instanceof Gate gate) gate.pass();
  }

  static ActorWithReturn<Object, Object> echo(ActorBuilder<Object> builder) {
    return builder.newActorWithReturn((Object message) -> {
      pass(message);
      return message;
    });
  }

  static List<Gate> occupy(Actor<Object> pool, int gates) {
    return IntStream.range(0, gates).mapToObj(i -> Gate.occupy(pool)).toList();
  }
}
