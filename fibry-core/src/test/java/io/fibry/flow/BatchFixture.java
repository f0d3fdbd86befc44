package io.fibry.flow;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.RecordedLetters;
import io.fibry.time.ManualScheduler;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiFunction;
import org.junit.jupiter.api.AfterEach;

/** A scope for batches, and the batches that were handled. */
abstract class BatchFixture {
  final RecordedLetters letters = new RecordedLetters();
  final ManualScheduler clock = new ManualScheduler();
  final ActorScope scope;
  final List<Object> received = new CopyOnWriteArrayList<>();

  /** The function adds options of the scope, which may use the clock. */
  BatchFixture(BiFunction<ActorScope.Options, ManualScheduler, ActorScope.Options> options) {
    this.scope = ActorSystem.openScope("batches", o -> options.apply(o.withDeadLetterListener(letters), clock));
  }

  @AfterEach
  void close() {
    Gate.openAll();
    scope.closeWithin(Patience.LONG);
  }

  void awaitQuiet() {
    assertTrue(scope.awaitQuiescence(Patience.LONG));
  }
}
