package io.fibry.pool;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.Clock;
import io.fibry.FailurePolicy;
import io.fibry.Gate;
import io.fibry.Letters;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;

/** Scopes for pools, by the clock of the system and by a manual one. */
abstract class PoolFixture {
  final Letters letters = new Letters();
  final Clock clock = new Clock();
  final ActorScope scope = ActorSystem.openScope("pools", o -> o.withDeadLetters(letters));
  final ActorScope still = ActorSystem.openScope("still", o -> o.withScheduler(clock));
  final ActorBuilder<Object> how = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog());

  @AfterEach
  void close() {
    Gate.openAll();
    scope.close();
    still.close();
  }

  static void pass(Object message) throws InterruptedException {
    if (message instanceof Gate gate) gate.pass();
  }

  static ActorWithReturn<Object, Object> echo(ActorBuilder<Object> how) {
    return how.newActorWithReturn((Object message) -> {
      pass(message);
      return message;
    });
  }

  static List<Gate> occupy(Actor<Object> pool, int gates) {
    return IntStream.range(0, gates).mapToObj(i -> Gate.occupy(pool)).toList();
  }
}
