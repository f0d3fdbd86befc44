package io.fibry.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.Actor;
import io.fibry.ActorWithReturn;
import io.fibry.AskTimeoutException;
import io.fibry.DeadLetter;
import io.fibry.FailurePolicy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.spi.ActorTotals.Total;
import io.fibry.spi.ActorTotals.Worst;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import io.fibry.testing.Echo;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests the names of the actors that fail, refuse, restart and let requests expire most. */
class WorstActorsTest extends ActorTotalsSetup {
  private static Optional<Worst> worst(String actor, long count) {
    return Optional.of(new Worst(actor, count));
  }

  private static void fail(Actor<Object> actor, int count) {
    for (int i = 0; i < count; i++) actor.sendMessage(new IllegalStateException("planned"));
  }

  private Optional<Worst> worstFailing(ActorTotals totals) {
    awaitQuiet();
    return totals.read().getFirst().worstFailing();
  }

  /** An actor that failed often before must not hide the actor that fails now. */
  @Promise("19.26")
  @Test
  void totalsNameActorThatHasFailedMostInPeriod() {
    var first = newActor(scope, "first");
    var second = newActor(scope, "second");
    fail(second, 20);
    awaitQuiet();
    var totals = totals("*");
    assertEquals(Optional.empty(), worstFailing(totals));
    fail(first, 10);
    fail(second, 9);
    assertEquals(worst("first", 10), worstFailing(totals));

    clock.advance(Duration.ofMinutes(5));
    assertEquals(worst("first", 10), worstFailing(totals)); // the end of the period
    assertEquals(worst("first", 10), worstFailing(totals));
    fail(second, 2);
    fail(first, 1);
    assertEquals(worst("second", 2), worstFailing(totals));
    fail(first, 1);
    assertEquals(worst("second", 2), worstFailing(totals)); // the first among equals
    fail(first, 1);
    assertEquals(worst("first", 3), worstFailing(totals));

    clock.advance(Duration.ofMinutes(5));
    assertEquals(worst("first", 3), worstFailing(totals));
    clock.advance(Duration.ofMinutes(5));
    assertEquals(Optional.empty(), worstFailing(totals));
  }

  @Promise("19.26")
  @Test
  void totalsNameActorThatHasFailedAndEnded() {
    var totals = totals("cart-*", "*");
    var cart = newActor(scope, "cart-1");
    fail(newActor(scope, "other"), 5);
    fail(cart, 1);
    awaitQuiet();

    cart.close();

    Patience.eventually(() -> totals.read().getFirst().living() == 0);
    assertEquals(List.of(worst("cart-1", 1), worst("other", 5)),
        totals.read().stream().map(Total::worstFailing).toList());
    clock.advance(Duration.ofMinutes(5));
    totals.read();
    clock.advance(Duration.ofMinutes(5));
    assertEquals(Optional.empty(), worstFailing(totals));
  }

  /** The counts of a new actor begin at zero, while its name had a count when the period began. */
  @Promise("19.26")
  @Test
  void totalsNameNewActorOfKnownName() {
    var totals = totals("*");
    var first = newActor(scope, "cart-1");
    fail(first, 9);
    awaitQuiet();
    clock.advance(Duration.ofMinutes(5));
    totals.read();
    clock.advance(Duration.ofMinutes(5));
    assertEquals(Optional.empty(), worstFailing(totals));
    first.close();
    Patience.eventually(() -> totals.read().getFirst().living() == 0);

    var second = newActor(scope, "cart-1");
    fail(second, 2);

    assertEquals(worst("cart-1", 2), worstFailing(totals));
    fail(second, 1);
    awaitQuiet();
    second.close();
    Patience.eventually(() -> totals.read().getFirst().living() == 0);
    assertEquals(worst("cart-1", 3), worstFailing(totals));
  }

  @Promise("19.26")
  @Test
  void failedReadDoesNotChangeWorstActor() {
    var failsNow = new AtomicBoolean();
    var failingClock = Intercepted.of(Scheduler.class, clock, (method, arguments, call) -> {
      if (failsNow.get() && method.getName().equals("nanoTime")) throw new IllegalStateException("planned");
      return call.pass();
    });
    var inner = scope.openScope("inner", options -> options.withScheduler(failingClock));
    var totals = ActorTotals.of(inner, ActorNames.of(List.of("*")));
    fail(newActor(inner, "cart-1"), 3);
    awaitQuiet();

    failsNow.set(true);
    assertThrows(IllegalStateException.class, totals::read);
    failsNow.set(false);

    assertEquals(worst("cart-1", 3), worstFailing(totals));
  }

  @Promise("19.26")
  @Test
  void totalsNameActorsThatHaveRefusedAndRestartedMost() {
    var totals = totals("*");
    var full = newActor(scope, "full", Mailbox.bounded(1, Overflow.REJECT));
    Gate.occupy(full);
    for (int i = 0; i < 3; i++) full.sendMessage(i);
    scope.named("broken").onFailure(FailurePolicy.restart().withoutLog()).newActor((Object message) -> {
      throw new IllegalStateException("planned");
    }).sendMessage("fails");
    Patience.eventually(() -> scope.report().restarted() == 1);

    var sum = totals.read().getFirst();

    assertEquals(List.of(worst("full", 2), worst("broken", 1)), List.of(sum.worstRefusing(), sum.worstRestarting()));
  }

  /** A request whose handler has begun does not expire in the mailbox. */
  @Promise("19.26")
  @Test
  void totalsNameActorAtWhichMostRequestsExpire() {
    var slow = Echo.actor(scope.named("slow"));
    askLate(slow, 4); // before the sums
    var totals = totals("*");
    assertEquals(Optional.empty(), totals.read().getFirst().worstExpiring());

    askLate(slow, 2);
    askLate(Echo.actor(scope.named("slower").mailbox(Mailbox.bounded(9, Overflow.REJECT))), 3);
    askLate(Echo.actor(scope.anonymous()), 5);

    assertEquals(worst("slower", 3), totals.read().getFirst().worstExpiring());
    assertEquals(14, scope.report().unhandled().get(DeadLetter.Reason.EXPIRED));
  }

  /** Occupies the actor with a request, and lets further requests expire in its mailbox. */
  private void askLate(ActorWithReturn<Object, Object> actor, int count) {
    var gate = new Gate();
    Patience.startFiber(() -> actor.sendMessageReturn(gate, Duration.ofSeconds(1)));
    Patience.await(gate.entered);
    var requests = IntStream.range(0, count).mapToObj(i -> actor.sendMessageReturn(i, Duration.ofSeconds(1))).toList();
    clock.advance(Duration.ofSeconds(1));
    for (var request : requests) assertSame(AskTimeoutException.class, Patience.failure(request).getClass());
    gate.open();
    awaitQuiet();
  }

  private static void executeIfAccepted(Actor<Object> actor) {
    try {
      actor.execute(() -> {});
    } catch (RejectedExecutionException refused) {}
  }

  /** A drop in progress must not lower the count of refused messages. */
  @Promise({"19.17", "19.26"})
  @Test
  void dropNamesNoActorThatHasRefusedBeforePeriod() {
    var totals = new AtomicReference<ActorTotals>(); // null before the period
    var seenDuringDrop = new ArrayList<Object>();
    var builder = scope.named("mail").mailbox(Mailbox.bounded(1, Overflow.DROP_OLDEST));
    var mail = BlockBuilder.of(builder).ignoreLost(message -> { // called during a drop
      if (totals.get() == null) return false;
      seenDuringDrop.add(scope.actors().getFirst().refused());
      seenDuringDrop.add(totals.get().read().getFirst().worstRefusing());
      return false;
    }).newActor((Object message) -> Gate.passOrThrow(message));
    Gate.occupy(mail);
    mail.sendMessage(1);
    while (scope.actors().getFirst().refused() < 2) executeIfAccepted(mail); // a full mailbox refuses tasks
    totals.set(totals("*"));

    mail.sendMessage(2);

    assertEquals(List.of(2L, Optional.empty()), seenDuringDrop);
    assertEquals(List.of(2L, 1L), List.of(scope.actors().getFirst().refused(), scope.actors().getFirst().dropped()));
  }
}
