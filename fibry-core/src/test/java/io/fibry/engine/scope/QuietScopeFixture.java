package io.fibry.engine.scope;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.testing.Gate;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;

/** A scope with a manual clock, and a log of messages. Each test ends the handlers of the scope. */
abstract class QuietScopeFixture {
  final ManualScheduler clock = new ManualScheduler();
  final ActorScope scope = ActorSystem.openScope("quiet", o -> o.withScheduler(clock));
  final List<Object> log = new CopyOnWriteArrayList<>();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    clock.advance(Duration.ofDays(1));
    scope.closeWithin(Duration.ZERO);
  }
}
