package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope.Report;
import io.fibry.engine.cell.Inside;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A handler that a member waits for closes the scope. The clock is stopped, so a close that waited
 * for its limit would hang.
 */
class ScopeWaitCycleTest {
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("shop", o -> o.withScheduler(clock));
  private final CompletableFuture<Throwable> told = new CompletableFuture<>();
  private final CompletableFuture<Report> report = new CompletableFuture<>();
  private final CompletableFuture<Actor<String>> asker = new CompletableFuture<>();
  private final CompletableFuture<Thread> waiter = new CompletableFuture<>(); // the thread that waits

  /** Closes the scope at any message, and then answers. */
  private ActorWithReturn<String, String> closer(ActorScope where) {
    return closer(where, () -> {});
  }

  /** Closes once the asker waits; otherwise the asker could find the ring and be freed by that. */
  private ActorWithReturn<String, String> late(ActorScope where) {
    return closer(where, () -> Patience.eventually(() -> waits(asker.join())));
  }

  private ActorWithReturn<String, String> closer(ActorScope where, Runnable first) {
    return where.named("closer").newActorWithReturn((String m) -> {
      first.run();
      report.complete(scope.closeWithin(Duration.ofMinutes(1)));
      return "closed";
    });
  }

  /** Before it parks, it looks for a ring. */
  private boolean waits(Actor<?> actor) {
    return Inside.waits(actor) && waiter.isDone() && Patience.isParked(waiter.join());
  }

  private void asker(ActorWithReturn<String, String> closer) {
    asker.complete(scope.named("asker").newActor((String m) -> {
      waiter.complete(Thread.currentThread());
      try {
        closer.ask(m);
      } catch (Throwable thrown) {
        told.complete(thrown);
      }
    }));
    asker.join().sendMessage("close");
  }

  @Promise("16.10")
  @Test
  void actorWhoseRequestClosesScopeGetsStoppedException() {
    asker(closer(scope));

    assertInstanceOf(ActorStoppedException.class, Patience.value(told));
    assertEquals(List.of(), Patience.value(report).unresponsive());
  }

  @Promise("16.10")
  @Test
  void actorAwaitingOutsideCloserIsInterruptedAtOnce() {
    try (var outside = ActorSystem.openScope("outside")) {
      asker(late(outside));

      assertInstanceOf(CancellationException.class, Patience.value(told));
      assertEquals(List.of(), Patience.value(report).unresponsive());
    }
  }

  @Test
  void actorAwaitingCloserThroughOutsiderGetsStoppedException() {
    try (var outside = ActorSystem.openScope("outside")) {
      var closer = late(scope);
      var between = outside.named("between").newActorWithReturn((String m) -> closer.ask(m));

      asker(between);

      assertInstanceOf(ActorStoppedException.class, Patience.value(told));
      assertTrue(Patience.value(report).unresponsive().isEmpty());
    }
  }

  @Test
  void outsiderWhoseRequestClosesScopeGetsAnswer() {
    var closer = closer(scope);

    assertEquals("closed", closer.ask("close"));
    assertEquals(List.of(), Patience.value(report).undelivered());
  }

  /**
   * The member waits for an actor that waits for the closer's report, and the closer waits for the
   * member.
   */
  @Promise("16.10")
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void actorAwaitingSecondCloserIsReleased(boolean below) {
    try (var outside = ActorSystem.openScope("outside")) {
      var where = below ? scope.openScope("below") : scope;
      var gate = new Gate();
      var member = new CompletableFuture<Actor<String>>();
      var second = outside.named("second").newActorWithReturn((String m) -> {
        // otherwise it would find the ring and be freed by that
        Patience.eventually(() -> waits(member.join()));
        return where.closeWithin(Duration.ofMinutes(1)).scope();
      });
      member.complete(where.named("member").newActor((String m) -> {
        gate.pass();
        waiter.complete(Thread.currentThread());
        try {
          second.ask(m);
        } catch (Throwable thrown) {
          told.complete(thrown);
        }
      }));
      member.join().sendMessage("close");
      Patience.await(gate.entered);
      Patience.parked(Patience.startFiber(() -> report.complete(scope.closeWithin(Duration.ofMinutes(1)))));

      gate.open();

      assertInstanceOf(CancellationException.class, Patience.value(told));
      assertEquals(List.of(), Patience.value(report).unresponsive());
    }
  }

  @Promise("16.12")
  @Test
  void secondInterruptOfCloserCutsOffHandlers() {
    var deaf = scope.named("deaf").newActor((Object m) -> ((Gate) m).passDeaf());
    Gate.occupy(deaf);
    var closer = Patience.startFiber(() -> scope.closeWithin(Duration.ofMinutes(1)));
    Patience.parked(closer);

    closer.interrupt(); // no longer waits for queued messages
    Patience.eventually(() -> Inside.isEnding(deaf));
    Patience.parked(closer);
    closer.interrupt(); // no longer waits for handlers

    Patience.joined(closer);
    assertEquals(List.of("deaf"), scope.report().unresponsive());
    Gate.openAll();
  }
}
