package io.fibry.engine.scope;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.flow.RateLimit;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that a scope is quiet while the end of an actor waits for the clock of the test. */
class QuiescenceOfEndTest extends QuietScopeFixture {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private void assertQuiet() {
    assertTrue(scope.awaitQuiescence(Patience.LONG), scope::dump);
  }

  static Stream<Consumer<Actor<?>>> ends() {
    return Stream.of(Actor::askExit, Actor::sendPoisonPill);
  }

  @Promise("19.6")
  @ParameterizedTest
  @MethodSource("ends")
  void endingPoolIsQuietWhileWorkersWaitForPermit(Consumer<Actor<?>> end) {
    var limited = RateLimit.around(scope.anonymous(), 1, SECOND);
    var pool = Pools.fixed(limited, 2).newActor((Object message) -> log.add(message));
    for (int message = 0; message < 3; message++) pool.sendMessage(message);
    assertQuiet();
    assertEquals(1, log.size()); // the faster of the two workers has taken the permit

    end.accept(pool);

    for (int second = 1; second <= 2; second++) {
      assertQuiet();
      assertFalse(pool.onExit().isDone());
      clock.advance(SECOND);
    }
    assertQuiet();
    assertTrue(pool.onExit().isDone());
    assertEquals(Set.of(0, 1, 2), Set.copyOf(log));
  }

  @Promise("19.5")
  @Test
  void endingPoolIsNotQuietWhileWorkerRuns() {
    var pool = Pools.fixed(scope.anonymous(), 2).newActor((Object message) -> {
      if (message instanceof Gate gate) gate.pass();
      else clock.sleepUntil(SECOND.toNanos());
    });
    pool.sendMessage("sleep");
    var gate = Gate.occupy(pool);

    pool.askExit();

    assertFalse(scope.awaitQuiescence(Duration.ofMillis(20)));
    gate.open();
    assertQuiet();
    assertFalse(pool.onExit().isDone());
    clock.advance(SECOND);
    assertQuiet();
    assertTrue(pool.onExit().isDone());
  }

  @Promise("19.5")
  @Test
  void quiescenceWaitsForHooksOfEndingPool() {
    for (int round = 0; round < 200; round++) {
      log.clear();
      var pool = Pools.fixed(scope.anonymous(), 2).newActor((Object message) -> clock.sleep(Duration.ofNanos(1)));
      pool.closeOnExit(() -> log.add("hook"));
      pool.sendMessage("sleep");
      pool.askExit();
      assertQuiet();
      assertEquals(List.of(), log);

      clock.advance(Duration.ofNanos(1));

      assertQuiet();
      assertEquals(List.of("hook"), log, "in round " + round);
    }
  }

  @Promise("19.6")
  @Test
  void scopeIsQuietWhileExitHookSleeps() {
    var actor = scope.anonymous().newActor((Object message) -> log.add(message))
        .closeOnExit(() -> clock.sleepUntil(SECOND.toNanos()));

    actor.askExit();

    assertQuiet();
    assertFalse(actor.onExit().isDone());
    clock.advance(SECOND);
    assertQuiet();
    assertTrue(actor.onExit().isDone());
  }
}
