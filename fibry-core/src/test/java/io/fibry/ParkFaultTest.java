package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.flow.Generator;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Entities;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** A fiber that waits at the end of its stack fails; a thread that waits beside it does not. */
class ParkFaultTest {
  private final CountDownLatch gate = new CountDownLatch(1);

  private static void overflows(Runnable wait) {
    StackEdge.whereNoParkWorks(() -> assertThrows(StackOverflowError.class, wait::run));
  }

  @Promise("8.5")
  @Test
  void messageIsNotSentWhenWaitForRoomFails() throws Exception {
    var begun = new CountDownLatch(1);
    var handled = new ConcurrentLinkedQueue<String>();
    var actor = ActorSystem.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK)).<String>newActor(text -> {
      begun.countDown();
      Patience.await(gate);
      handled.add(text);
    });
    actor.sendMessage("handled");
    Patience.await(begun);
    actor.sendMessage("waits");

    overflows(() -> actor.sendMessage("never sent"));
    var behind = Thread.startVirtualThread(() -> actor.sendMessage("behind"));
    Patience.parked(behind);
    gate.countDown();
    Patience.joined(behind);
    actor.sendPoisonPill();

    Patience.ended(actor::waitForExit);
    assertEquals(List.of("handled", "waits", "behind"), List.copyOf(handled));
  }

  @Promise("8.5")
  @Test
  void actorAnswersAfterFailedAsk() {
    var actor = ActorSystem.anonymous().newActorWithReturn((Integer number) -> {
      if (number == 0) Patience.await(gate);
      return number;
    });
    actor.sendMessage(0);

    overflows(() -> actor.ask(1));
    overflows(() -> actor.ask(1, Patience.LONG));
    overflows(() -> actor.waitForExit());
    gate.countDown();

    assertEquals(2, actor.ask(2, Patience.LONG));
  }

  @Promise("8.5")
  @Test
  void actorHandlesNextMessageAfterFailedReceive() {
    var actor =
        ActorSystem.anonymous().mailbox(Mailbox.unbounded().selective()).onFailure(FailurePolicy.resume().withoutLog())
            .newActorWithReturn((Object levels, ActorContext<Object> context) -> StackEdge.ranBelow((Integer) levels,
                () -> assertThrows(StackOverflowError.class,
                    () -> context.receive(Integer.class, Duration.ofHours(1)))));

    StackEdge.whereNoParkWorks(levels -> actor.ask(levels, Patience.LONG));

    assertFalse(actor.ask(0, Patience.LONG));
  }

  @Promise("16.5")
  @Test
  void failedScopeCloseLeavesNoActor() {
    var scope = ActorSystem.openScope("deep");
    var actor = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog())
        .<Integer>newActor(number -> Patience.await(gate));
    actor.sendMessage(1);

    overflows(scope::close);

    Patience.ended(actor::waitForExit);
    scope.close();
  }

  @Promise("23.6")
  @Test
  void entityIsCreatedAndPassivatedAfterFailedUse() {
    var entities = Entities.open(ActorSystem.anonymous(), Duration.ofMillis(20), (how, key) -> {
      Patience.await(gate);
      return how.newActor((Integer number) -> {});
    });
    var first = Thread.startVirtualThread(() -> entities.actor(7).sendMessage(1));
    Patience.parked(first);

    overflows(() -> entities.actor(7).sendMessage(2));
    gate.countDown();

    Patience.joined(first);
    Patience.eventually(() -> entities.size() == 0);
    entities.kill();
  }

  @Promise("22.5")
  @Test
  void generatorReaderContinuesAfterFailedWait() {
    var iteration = Generator.<Integer>of(ActorSystem.anonymous(), 1, out -> {
      Patience.await(gate);
      out.yield(1);
    }).iterator();

    overflows(iteration::hasNext);
    gate.countDown();

    assertEquals(1, iteration.next());
    assertFalse(iteration.hasNext());
  }

  @Promise("22.5")
  @Test
  void failedYieldDoesNotBlockOtherYields() {
    var read = new ArrayList<Integer>();
    var generator = Generator.<Integer>of(ActorSystem.anonymous(), 1, out -> {
      out.yield(1);
      overflows(() -> out.yield(2));
      var third = Thread.startVirtualThread(() -> out.yield(3));
      Patience.parked(third);
      gate.countDown();
      Patience.joined(third);
    });

    try (var iteration = generator.iterator()) {
      Patience.await(gate);
      while (iteration.hasNext()) read.add(iteration.next());
    }

    assertEquals(List.of(1, 3), read);
  }
}
