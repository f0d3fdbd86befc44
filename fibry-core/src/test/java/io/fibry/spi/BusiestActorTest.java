package io.fibry.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorContext;
import io.fibry.ActorStats.ActorState;
import io.fibry.ActorWithReturn;
import io.fibry.Request;
import io.fibry.spi.ActorTotals.Total;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Tests that the busiest actor is the cause of a delay, and no actor that waits for the cause. */
class BusiestActorTest extends ActorTotalsSetup {
  private static final Duration LIMIT = Duration.ofHours(1);

  private static final class Call implements Request<Call, String> {}

  /** Starts an actor that handles one message, in which it waits for another actor. */
  private ActorWithReturn<String, Object> startWaitingActor(String name, Supplier<Object> request) {
    var waiting = scope.named(name).newActorWithReturn((String text) -> request.get());
    Patience.startFiber(() -> waiting.sendMessage("jam"));
    Patience.eventually(name + " does not wait", () -> scope.actors().stream()
        .anyMatch(actor -> actor.name().equals(name) && actor.state() == ActorState.AWAITING_ACTOR));
    return waiting;
  }

  private ActorWithReturn<String, Object> newBusyActor(String name) {
    var gate = new Gate();
    var busy = scope.named(name).newActorWithReturn((String text) -> {
      gate.passUninterruptibly();
      return (Object) text;
    });
    Patience.startFiber(() -> busy.sendMessage("first"));
    Patience.await(gate.entered);
    return busy;
  }

  private List<Optional<String>> busiest(ActorTotals totals) {
    totals.read(); // by a manual clock, the busy time begins at this first read
    clock.advance(Duration.ofSeconds(3));
    return totals.read().stream().map(Total::busiestActor).toList();
  }

  @Promise("19.26")
  @Test
  void actorsThatWaitForBusyActorAreNotBusiest() {
    var totals = totals("warehouse", "*");
    var warehouse = newBusyActor("warehouse");
    var packer = startWaitingActor("packer", () -> warehouse.ask("jam", LIMIT));
    startWaitingActor("shop", () -> packer.ask("jam", LIMIT));

    assertEquals(List.of(Optional.of("warehouse"), Optional.empty()), busiest(totals));
    assertEquals(List.of(Duration.ofSeconds(3), Duration.ZERO),
        totals.read().stream().map(Total::busyFor).toList());
  }

  /** Without a sum of the cause, the actor that waits is the only sign of the delay. */
  @Promise("19.26")
  @Test
  void actorThatWaitsForActorWithoutSumIsBusiest() {
    var totals = totals("packer");
    var warehouse = newBusyActor("warehouse");
    startWaitingActor("packer", () -> warehouse.ask("jam", LIMIT));

    assertEquals(List.of(Optional.of("packer")), busiest(totals));
  }

  /** An actor that has promised its answer for later is idle, and no message waits for it. */
  @Promise("19.26")
  @Test
  void actorThatWaitsForIdleActorIsBusiest() {
    var totals = totals("warehouse", "*");
    var warehouse = scope.named("warehouse").newActor((Object message, ActorContext<Object> context) -> context
        .replyWhen((Call) message, new CompletableFuture<>()));
    startWaitingActor("packer", () -> warehouse.ask(new Call(), LIMIT));
    Patience.eventually("the warehouse is busy", () -> scope.actors().stream()
        .anyMatch(actor -> actor.name().equals("warehouse") && actor.state() == ActorState.IDLE));

    assertEquals(List.of(Optional.empty(), Optional.of("packer")), busiest(totals));
  }
}
