package io.fibry.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter.Reason;
import io.fibry.FailurePolicy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ScopeSnapshotTest {
  private final ActorScope scope =
      ActorSystem.openScope("app", options -> options.withScheduler(new ManualScheduler()));
  private final CountDownLatch gate = new CountDownLatch(1);

  @AfterEach
  void close() {
    gate.countDown();
    scope.closeWithin(Duration.ZERO);
  }

  @Test
  void problemRowsAreLimitedToMostUrgentProblems() {
    var entered = new Semaphore(0);
    for (int i = 0; i < ActorHistories.MAX_ACTORS; i++) {
      var full = scope.named("full-" + i).mailbox(Mailbox.bounded(1, Overflow.REJECT)).newActor((String text) -> {
        entered.release();
        gate.await();
      });
      full.sendMessage("handled");
      Patience.acquire(entered);
      full.sendMessage("waits");
    }
    scope.named("suspended").onFailure(FailurePolicy.restart()
        .withBackoff(Duration.ofHours(1), Duration.ofHours(1)).withoutLog()).newActor((String text) -> {
          throw new IllegalStateException("planned");
        }).sendMessage("fails");
    Patience.eventually(() -> scope.report().suspended() == 1
        && scope.report().unhandled().get(Reason.FAILED) == 1);

    var rows = ScopeSnapshot.take(scope, 0, DashboardOptions.DEFAULT, Optional.empty(),
        new ProcessPauses(Scheduler.system())).problemRows();

    assertEquals(ActorHistories.MAX_ACTORS, rows.size());
    assertEquals("suspended", rows.getFirst().stats().name());
    assertEquals(List.of(ActorProblem.RESTARTING), rows.getFirst().problems());
  }
}
