package io.fibry.spi;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.FailurePolicy;
import io.fibry.mailbox.Mailbox;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Variants;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;

/** The scope and the actors of tests of sums by name. */
abstract class ActorTotalsSetup {
  final ManualScheduler clock = new ManualScheduler();
  final ActorScope scope = Variants.scope(options -> options.withScheduler(clock));

  @AfterEach
  final void close() {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
  }

  final ActorTotals totals(String... names) {
    return ActorTotals.of(scope, ActorNames.of(List.of(names)));
  }

  final void awaitQuiet() {
    assertTrue(scope.awaitQuiescence(Patience.LONG));
  }

  static Actor<Object> newActor(ActorScope scope, String name) {
    return newActor(scope, name, Mailbox.unbounded());
  }

  static Actor<Object> newActor(ActorScope scope, String name, Mailbox<Object> mailbox) {
    return scope.named(name).mailbox(mailbox).onFailure(FailurePolicy.resume().withoutLog())
        .newActor(Gate::passOrThrow);
  }
}
