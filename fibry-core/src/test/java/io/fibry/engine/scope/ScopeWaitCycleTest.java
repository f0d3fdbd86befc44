package io.fibry.engine.scope;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorScope.Report;
import io.fibry.ActorStoppedException;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.engine.cell.ActorInternals;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests a wait cycle: a member of a scope waits for a handler, and this handler closes the scope.
 * The clock is manual, and no test advances it, so a close that waited for its limit would hang.
 */
class ScopeWaitCycleTest {
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("shop", o -> o.withScheduler(clock));
  private final CompletableFuture<Throwable> failure = new CompletableFuture<>();
  private final CompletableFuture<Report> report = new CompletableFuture<>();
  private final CompletableFuture<Actor<String>> asker = new CompletableFuture<>();
  private final CompletableFuture<Thread> waiter = new CompletableFuture<>(); // the thread of the handler that waits

  /** Creates an actor that closes the test's scope at any message, and then answers. */
  private ActorWithReturn<String, String> closer(ActorScope owner) {
    return closer(owner, () -> {});
  }

  /** Creates an actor that closes only once the asker has parked, so the asker detects no cycle. */
  private ActorWithReturn<String, String> closerAfterAsker(ActorScope owner) {
    return closer(owner, () -> Patience.eventually(() -> isParkedInWait(asker.join())));
  }

  private ActorWithReturn<String, String> closer(ActorScope owner, Runnable beforeClose) {
    return owner.named("closer").newActorWithReturn((String m) -> {
      beforeClose.run();
      report.complete(scope.closeWithin(Duration.ofMinutes(1)));
      return "closed";
    });
  }

  /** Returns whether the handler of the actor has checked for a cycle, and has parked. */
  private boolean isParkedInWait(Actor<?> actor) {
    return ActorInternals.isHandlerWaiting(actor) && waiter.isDone() && Patience.isParked(waiter.join());
  }

  private void asker(ActorWithReturn<String, String> closer) {
    asker.complete(scope.named("asker").newActor((String m) -> {
      waiter.complete(Thread.currentThread());
      try {
        closer.ask(m);
      } catch (Throwable thrown) {
        failure.complete(thrown);
      }
    }));
    asker.join().sendMessage("close");
  }

  @Promise("16.10")
  @Test
  void askOfActorThatClosesAskersScopeThrowsStoppedException() {
    asker(closer(scope));

    assertInstanceOf(ActorStoppedException.class, Patience.value(failure));
    assertEquals(List.of(), Patience.value(report).unresponsive());
  }

  @Promise("16.10")
  @Test
  void memberWaitingForOutsideActorThatClosesScopeIsCancelled() {
    try (var outside = ActorSystem.openScope("outside")) {
      asker(closerAfterAsker(outside));

      assertInstanceOf(CancellationException.class, Patience.value(failure));
      assertEquals(List.of(), Patience.value(report).unresponsive());
    }
  }

  @Test
  void memberAskingScopeCloserThroughOutsiderGetsStoppedException() {
    try (var outside = ActorSystem.openScope("outside")) {
      var closer = closerAfterAsker(scope);
      var intermediary = outside.named("between").newActorWithReturn((String m) -> closer.ask(m));

      asker(intermediary);

      assertInstanceOf(ActorStoppedException.class, Patience.value(failure));
      assertTrue(Patience.value(report).unresponsive().isEmpty());
    }
  }

  @Test
  void outsiderWhoseRequestClosesScopeGetsAnswer() {
    var closer = closer(scope);

    assertEquals("closed", closer.ask("close"));
    assertEquals(List.of(), Patience.value(report).deadLetters());
  }

  /**
   * The member waits for a second closer, which waits for the report of the first closer. The first
   * closer waits for the member.
   */
  @Promise("16.10")
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void memberWaitingForSecondActorThatClosesScopeIsCancelled(boolean inChildScope) {
    try (var outside = ActorSystem.openScope("outside")) {
      var owner = inChildScope ? scope.openScope("below") : scope;
      var gate = new Gate();
      var member = new CompletableFuture<Actor<String>>();
      var secondCloser = outside.named("second").newActorWithReturn((String m) -> {
        // the member must park before the cycle exists, or it would detect the cycle itself
        Patience.eventually(() -> isParkedInWait(member.join()));
        return owner.closeWithin(Duration.ofMinutes(1)).scope();
      });
      member.complete(owner.named("member").newActor((String m) -> {
        gate.pass();
        waiter.complete(Thread.currentThread());
        try {
          secondCloser.ask(m);
        } catch (Throwable thrown) {
          failure.complete(thrown);
        }
      }));
      member.join().sendMessage("close");
      Patience.await(gate.entered);
      Patience.awaitParked(Patience.startFiber(() -> scope.closeWithin(Duration.ofMinutes(1)), report));

      gate.open();

      assertInstanceOf(CancellationException.class, Patience.value(failure));
      assertEquals(List.of(), Patience.value(report).unresponsive());
    }
  }

  @Promise("16.12")
  @Test
  void secondInterruptOfClosingThreadCutsOffHandlers() {
    var deafActor = scope.named("deaf").newActor((Object m) -> ((Gate) m).passUninterruptibly());
    Gate.occupy(deafActor);
    var closer = Patience.startFiber(() -> scope.closeWithin(Duration.ofMinutes(1)));
    Patience.awaitParked(closer);

    closer.interrupt(); // no longer waits for queued messages
    Patience.eventually(() -> ActorInternals.isEnding(deafActor));
    Patience.awaitParked(closer);
    closer.interrupt(); // no longer waits for handlers

    Patience.awaitEnd(closer);
    assertEquals(List.of("deaf"), scope.report().unresponsive());
    Gate.openAll();
  }
}
