package io.fibry.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.FailurePolicy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import io.fibry.spi.ActorTotals.Total;
import io.fibry.spi.ActorTotals.Worst;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Tests the sums of counts of actors by name, which libraries of metrics publish. */
class ActorTotalsTest extends ActorTotalsSetup {
  private static Total sum(String name, int living, long handled) {
    return sum(name, living, handled, 0, 0);
  }

  /** Returns the sum of a name whose failures and refusals are all of the actor of this name. */
  private static Total sum(String name, int living, long handled, long failed, long refused) {
    return new Total(name, living, 0, handled, failed, refused, 0, 0, 0, Duration.ZERO, Optional.empty(), Duration.ZERO,
        Optional.empty(), worst(name, failed), worst(name, refused), Optional.empty(), Optional.empty(),
        Optional.empty(), Optional.empty(), Optional.empty());
  }

  private static Optional<Worst> worst(String actor, long count) {
    return count == 0 ? Optional.empty() : Optional.of(new Worst(actor, count));
  }

  /** Waits for the sums, because an actor leaves its scope after its end was announced. */
  private static void eventually(ActorTotals totals, Total... expected) {
    Patience.eventually("other sums than " + List.of(expected), () -> totals.read().equals(List.of(expected)));
  }

  @Promise("19.24")
  @Test
  void totalsHaveLivingAndEndedActors() {
    // @start region="totals"
    var totals = ActorTotals.of(scope, ActorNames.of(List.of("cart-*", "payments")));

    var cart = scope.named("cart-17").newActor((String item) -> {});
    cart.sendMessage("hat");
    cart.close(); // handles the hat

    long handled = totals.read().getFirst().handled(); // 1
    // @end
    assertEquals(1, handled);
    eventually(totals, sum("cart-*", 0, 1), sum("payments", 0, 0));

    for (int i = 18; i < 20; i++) newActor(scope, "cart-" + i).sendMessage("shoes");
    newActor(scope, "other").sendMessage("belongs to no sum");
    scope.anonymous().newActor((String item) -> {}).sendMessage("belongs to no sum");
    awaitQuiet();

    assertEquals(List.of(sum("cart-*", 2, 3), sum("payments", 0, 0)), totals.read());
  }

  @Promise("19.24")
  @Test
  void totalsAddGaugesOfLivingActors() {
    var totals = totals("cart-*");
    var first = newActor(scope, "cart-1");
    var second = newActor(scope, "cart-2");
    first.sendMessage(new IllegalStateException("planned"));
    awaitQuiet();
    for (var actor : List.of(first, second)) {
      Gate.occupy(actor);
      actor.sendMessage("waits");
    }
    totals.read(); // by a manual clock, the busy time begins at this first read
    clock.advance(Duration.ofSeconds(3));

    var sum = totals.read().getFirst();

    assertEquals(List.of(2L, 0L, 1L, 2L), List.of((long) sum.living(), sum.handled(), sum.failed(), sum.queued()));
    assertTrue(sum.busyFor().compareTo(Duration.ofSeconds(3)) >= 0, sum::toString);
    assertEquals(Duration.ofSeconds(3), sum.oldestWaiting());
    assertTrue(List.of("cart-1", "cart-2").contains(sum.busiestActor().orElseThrow()), sum::toString);
    assertTrue(List.of("cart-1", "cart-2").contains(sum.oldestWaitingActor().orElseThrow()), sum::toString);
  }

  @Promise("19.26")
  @Test
  void totalsNameActorsThatAreBusyAndWaitForLongest() {
    var totals = totals("*");
    var busy = newActor(scope, "busy");
    var late = newActor(scope, "late");
    Gate.occupy(busy);
    totals.read();
    clock.advance(Duration.ofSeconds(3));
    Gate.occupy(late);
    late.sendMessage("waits");
    totals.read();
    clock.advance(Duration.ofSeconds(2));
    busy.sendMessage("waits for a shorter time");

    var sum = totals.read().getFirst();

    assertEquals(List.of(Optional.of("busy"), Optional.of("late")),
        List.of(sum.busiestActor(), sum.oldestWaitingActor()));
    Gate.openAll();
    awaitQuiet();
    var quiet = totals.read().getFirst();
    assertEquals(List.of(Optional.empty(), Optional.empty()),
        List.of(quiet.busiestActor(), quiet.oldestWaitingActor()));
  }

  private static List<Long> restartedAndSuspended(ActorTotals totals) {
    var sum = totals.read().getFirst();
    return List.of(sum.restarted(), (long) sum.suspended());
  }

  @Promise("19.26")
  @Test
  void totalsCountRestartsAndSuspendedActors() {
    var totals = totals("orders");
    var actor = scope.named("orders").initialState(Object::new)
        .onFailure(FailurePolicy.restart().withBackoff(Duration.ofSeconds(1), Duration.ofSeconds(4)).withoutLog())
        .newActor((Object state, Object message) -> {
          throw new IllegalStateException("planned");
        });
    actor.sendMessage("fails");
    Patience.eventually(() -> restartedAndSuspended(totals).equals(List.of(1L, 1L)));
    assertEquals(worst("orders", 1), totals.read().getFirst().suspendedActor());
    assertEquals(List.of(1L, 1L), List.of(scope.report().restarted(), (long) scope.report().suspended()));

    clock.advance(Duration.ofSeconds(4));
    awaitQuiet();
    assertEquals(List.of(1L, 0L), restartedAndSuspended(totals));
    assertEquals(Optional.empty(), totals.read().getFirst().suspendedActor());
    actor.close();

    Patience.eventually(() -> totals.read().getFirst().living() == 0);
    assertEquals(List.of(1L, 0L), restartedAndSuspended(totals));
    assertEquals(List.of(1L, 0L), List.of(scope.report().restarted(), (long) scope.report().suspended()));
  }

  @Promise("19.26")
  @Test
  void poolCountsRestartsOfItsWorkers() {
    var totals = totals("pool");
    var pool = Pools.fixed(scope.named("pool").onFailure(FailurePolicy.restart().withoutLog()), 3)
        .newActor((Object message) -> {
          throw new IllegalStateException("planned");
        });
    for (int i = 0; i < 6; i++) pool.sendMessage(i);

    awaitQuiet();

    assertEquals(List.of(6L, 0L), restartedAndSuspended(totals));
    assertEquals(6, scope.report().restarted());
  }

  /** An actor that another actor's failure restarts has restarted, too. */
  @Promise("19.26")
  @Test
  void restartsThatScopeCausesAreCounted() {
    var inner = scope.openScope("inner", options -> options.withFailurePolicy(FailurePolicy.restartAll().withoutLog()));
    var totals = totals("*");
    Actor<Object> failing = inner.named("failing").onFailure(FailurePolicy.escalate())
        .newActor((Object message) -> {
          throw new IllegalStateException("planned");
        });
    var other = newActor(inner, "other");
    other.sendMessage("before");
    awaitQuiet();

    failing.sendMessage("fails");
    awaitQuiet();
    other.sendMessage("the restart comes before the next message");
    awaitQuiet();

    assertEquals(List.of(2L, 0L), restartedAndSuspended(totals));
  }

  @Promise("19.24")
  @Test
  void failedAndRefusedMessagesOfEndedActorStayInTotal() {
    var totals = totals("orders");
    var actor = scope.named("orders").mailbox(Mailbox.bounded(1, Overflow.REJECT))
        .onFailure(FailurePolicy.resume().withoutLog()).newActor((Object message) -> {
          if (message instanceof Gate gate) gate.pass();
          throw new IllegalStateException("planned");
        });
    var gate = Gate.occupy(actor);
    for (var message : List.of("waits", "refused", "refused")) actor.sendMessage(message);
    gate.open();
    awaitQuiet();
    var before = totals.read();

    actor.close();
    newActor(scope, "orders").close(); // the next actor of the name

    eventually(totals, sum("orders", 0, 0, 2, 2));
    assertEquals(List.of(sum("orders", 1, 0, 2, 2)), before);
  }

  @Promise("19.26")
  @Test
  void droppedMessagesDoNotCountAsRefused() {
    var totals = totals("orders");
    var actor = newActor(scope, "orders", Mailbox.bounded(1, Overflow.DROP_OLDEST));
    Gate.occupy(actor);
    for (int i = 0; i < 4; i++) actor.sendMessage(i);

    var sum = totals.read().getFirst();

    assertEquals(List.of(0L, 3L), List.of(sum.refused(), sum.dropped()));
    assertEquals(Optional.empty(), sum.worstRefusing());
    var stats = scope.actors().getFirst();
    assertEquals(List.of(0L, 3L), List.of(stats.refused(), stats.dropped()));
  }

  @Promise("19.24")
  @Test
  void totalsOfOuterScopeHaveActorsOfInnerScopes() {
    var outer = totals("cart-*");
    var inner = scope.openScope("inner");
    var ofInner = ActorTotals.of(inner, ActorNames.of(List.of("*")));
    newActor(inner.openScope("innermost"), "cart-1").sendMessage("one");
    newActor(inner, "cart-1").sendMessage("two");
    newActor(scope, "cart-1").sendMessage("three");

    inner.close();

    awaitQuiet();
    eventually(outer, sum("cart-*", 1, 3));
    eventually(ofInner, sum("*", 0, 2));
  }

  @Promise("19.24")
  @Test
  void poolCountsAsOneActor() {
    var totals = totals("pool*");
    var pool = Pools.fixed(scope.named("pool"), 3).newActor((Object message) -> {});
    for (int i = 0; i < 10; i++) pool.sendMessage(i);
    awaitQuiet();
    assertEquals(List.of(sum("pool*", 1, 10)), totals.read());

    pool.close();

    eventually(totals, sum("pool*", 0, 10));
  }

  @Promise("19.24")
  @Test
  void actorThatWasCutOffCountsUntilItsHandlerReturns() {
    var totals = totals("stuck");
    var entered = new CountDownLatch(1);
    var released = new CompletableFuture<Void>();
    var actor = scope.named("stuck").newActor((String message) -> {
      entered.countDown();
      released.join(); // ignores the interrupt
    });
    actor.sendMessage("stuck");
    Patience.await(entered);
    actor.kill();
    clock.advance(Duration.ofSeconds(1));
    actor.waitForExit();
    assertEquals(1, totals.read().getFirst().living());

    released.complete(null);

    eventually(totals, sum("stuck", 0, 1));
  }

  @Promise("19.24")
  @Test
  void closedTotalsKeepTheirSums() {
    var totals = totals("a", "b");
    var actor = newActor(scope, "a");
    actor.sendMessage("counts");
    awaitQuiet();

    totals.close();
    actor.sendMessage("does not count");
    actor.close();
    totals.close();

    assertEquals(List.of(sum("a", 1, 1), sum("b", 0, 0)), totals.read());
  }

  @Promise("19.24")
  @Test
  void actorsThatEndedBeforeDoNotCount() {
    newActor(scope, "cart-1").close();
    Patience.eventually(() -> scope.actors().isEmpty());
    var living = newActor(scope, "cart-2");
    living.sendMessage("handled before");
    awaitQuiet();

    assertEquals(List.of(sum("cart-*", 1, 1)), totals("cart-*").read());
  }
}
