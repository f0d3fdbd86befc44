package io.fibry.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.flow.Generator;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Entities;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import io.fibry.testing.StackEdge;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/**
 * Tests that a wait throws a StackOverflowError if the stack is almost exhausted, and disturbs no
 * other fiber.
 */
class ParkFaultTest {
  private final CountDownLatch gate = new CountDownLatch(1);

  private static void assertOverflows(Runnable wait) {
    StackEdge.runWhereParkFails(() -> assertThrows(StackOverflowError.class, wait::run));
  }

  @Promise("8.5")
  @Test
  void messageIsNotSentWhenWaitForCapacityOverflowsStack() throws Exception {
    var handlerEntered = new CountDownLatch(1);
    var handled = new ConcurrentLinkedQueue<String>();
    var actor = ActorSystem.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK)).<String>newActor(text -> {
      handlerEntered.countDown();
      Patience.await(gate);
      handled.add(text);
    });
    actor.sendMessage("handled");
    Patience.await(handlerEntered);
    actor.sendMessage("waits");

    assertOverflows(() -> actor.sendMessage("never sent"));
    var otherSender = Patience.startFiber(() -> actor.sendMessage("second sender"));
    Patience.awaitParked(otherSender);
    gate.countDown();
    Patience.awaitEnd(otherSender);
    actor.sendPoisonPill();

    Patience.awaitEnd(actor::waitForExit);
    assertEquals(List.of("handled", "waits", "second sender"), List.copyOf(handled));
  }

  @Promise("8.5")
  @Test
  void actorAnswersNextAskAfterAskOverflowsStack() {
    var actor = ActorSystem.anonymous().newActorWithReturn((Integer number) -> {
      if (number == 0) Patience.await(gate);
      return number;
    });
    actor.sendMessage(0);

    assertOverflows(() -> actor.ask(1));
    assertOverflows(() -> actor.ask(1, Patience.LONG));
    assertOverflows(() -> actor.waitForExit());
    gate.countDown();

    assertEquals(2, actor.ask(2, Patience.LONG));
  }

  @Promise("8.5")
  @Test
  void actorHandlesNextMessageAfterContextReceiveFails() {
    var actor =
        ActorSystem.anonymous().mailbox(Mailbox.unbounded().selective()).onFailure(FailurePolicy.resume().withoutLog())
            .newActorWithReturn((Object levels, ActorContext<Object> context) -> StackEdge.runAtDepth((Integer) levels,
                () -> assertThrows(StackOverflowError.class,
                    () -> context.receive(Integer.class, Duration.ofHours(1)))));

    StackEdge.runWhereParkFails(levels -> actor.ask(levels, Patience.LONG));

    assertFalse(actor.ask(0, Patience.LONG));
  }

  @Promise("16.5")
  @Test
  void scopeCloseThatOverflowsStackStillEndsActors() {
    var scope = ActorSystem.openScope("deep");
    var actor = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog())
        .<Integer>newActor(number -> Patience.await(gate));
    actor.sendMessage(1);

    assertOverflows(scope::close);

    Patience.awaitEnd(actor::waitForExit);
    scope.close();
  }

  @Promise("23.6")
  @Test
  void entityIsCreatedAndPassivatedDespiteStackOverflowInSend() {
    var entities = Entities.open(ActorSystem.anonymous(), Duration.ofMillis(20), (builder, key) -> {
      Patience.await(gate);
      return builder.newActor((Integer number) -> {});
    });
    var firstSender = Patience.startFiber(() -> entities.actor(7).sendMessage(1));
    Patience.awaitParked(firstSender);

    assertOverflows(() -> entities.actor(7).sendMessage(2));
    gate.countDown();

    Patience.awaitEnd(firstSender);
    Patience.eventually(() -> entities.size() == 0);
    entities.kill();
  }

  @Promise("22.5")
  @Test
  void generatorReaderGetsValueAfterHasNextOverflowsStack() {
    var iteration = Generator.<Integer>of(ActorSystem.anonymous(), 1, out -> {
      Patience.await(gate);
      out.yield(1);
    }).iterator();

    assertOverflows(iteration::hasNext);
    gate.countDown();

    assertEquals(1, iteration.next());
    assertFalse(iteration.hasNext());
  }

  @Promise("22.5")
  @Test
  void generatorYieldThatOverflowsStackBlocksNoOtherYield() {
    var values = new ArrayList<Integer>();
    var generator = Generator.<Integer>of(ActorSystem.anonymous(), 1, out -> {
      out.yield(1);
      assertOverflows(() -> out.yield(2));
      var otherYield = Patience.startFiber(() -> out.yield(3));
      Patience.awaitParked(otherYield);
      gate.countDown();
      Patience.awaitEnd(otherYield);
    });

    try (var iteration = generator.iterator()) {
      Patience.await(gate);
      while (iteration.hasNext()) values.add(iteration.next());
    }

    assertEquals(List.of(1, 3), values);
  }
}
