package io.fibry;

import static io.fibry.support.Patience.ended;
import static io.fibry.support.Patience.eventually;
import static io.fibry.support.Patience.failure;
import static io.fibry.support.Patience.joined;
import static io.fibry.support.Patience.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.fibry.mailbox.Mailbox;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Messages whose toString throws an Error, as objects that print each other do. Logging and
 * describing them must not break the library.
 */
class UnprintableFaultTest {

  /** A message that prints itself forever. */
  private static final class Ring {
    @Override
    public String toString() {
      throw new StackOverflowError("a ring");
    }
  }

  @AfterEach
  void openGates() {
    Gate.openAll();
  }

  @Test
  void unprintableRequestAfterPoisonPillFails() {
    var actor = gated(Variants.scope(o -> o));
    var gate = Gate.occupy(actor);
    actor.sendPoisonPill();

    var late = actor.sendMessageReturn(new Ring());
    gate.open();

    assertInstanceOf(ActorStoppedException.class, failure(late));
  }

  @Test
  void actorEndsWithUnprintableRequestAfterPoisonPill() {
    var actor = gated(Variants.scope(o -> o));
    var gate = Gate.occupy(actor);
    actor.sendPoisonPill();

    actor.sendMessageReturn(new Ring());
    gate.open();

    ended(actor::waitForExit);
  }

  @Test
  void theStopPolicyStopsAtAnUnprintableMessage() {
    var actor = Variants.scope(o -> o).anonymous().onFailure(FailurePolicy.stop()).newActor((Object message) -> {
      throw new IllegalStateException("on purpose");
    });

    actor.sendMessage(new Ring());

    ended(actor::waitForExit);
  }

  @Test
  void queuedUnprintableRequestFailsOnCutOff() {
    var actor = deaf();
    Gate.occupy(actor);
    var waiting = actor.sendMessageReturn(new Ring());

    actor.kill();

    assertInstanceOf(ActorStoppedException.class, failure(waiting));
  }

  @Test
  void requestQueuedAfterUnprintableRequestFailsOnCutOff() {
    var actor = deaf();
    Gate.occupy(actor);
    actor.sendMessageReturn(new Ring());
    var behind = actor.sendMessageReturn("printable");

    actor.kill();

    assertInstanceOf(ActorStoppedException.class, failure(behind));
  }

  @Test
  void unprintableRequestCanBeCancelledAfterCutOff() {
    var actor = deaf();
    Gate.occupy(actor);
    var waiting = actor.sendMessageReturn(new Ring());
    actor.kill();
    ended(actor::waitForExit);

    var canceller = Thread.ofPlatform().daemon().start(() -> waiting.cancel(true));

    joined(canceller);
  }

  @Test
  void theRequestAfterAnUnprintableStashedMessageIsAnswered() {
    var actor = Variants.scope(o -> o).anonymous().strategy(Strategy.THREAD).mailbox(Mailbox.unbounded().selective())
        .newActorWithReturn((Object message, ActorContext<Object> context) -> {
          if (!(message instanceof Ring)) return 1;
          context.stash();
          throw new IllegalStateException("on purpose");
        });
    actor.sendMessage(new Ring());

    var next = actor.sendMessageReturn("printable");

    assertEquals(1, value(next));
  }

  @Test
  void anActorEndsWithAnUnprintableRequestStashed() {
    var scope = Variants.scope(o -> o);
    var actor = scope.anonymous().mailbox(Mailbox.unbounded().selective())
        .newActorWithReturn((Object message, ActorContext<Object> context) -> {
          context.stash();
          return 1;
        });
    actor.sendMessageReturn(new Ring());

    actor.sendPoisonPill();

    ended(actor::waitForExit);
  }

  @Test
  void messagesHandledBeforeUnprintableMessageAreCounted() {
    var scope = Variants.scope(o -> o);
    var actor = scope.anonymous().newActor((Object message) -> {
      if (message instanceof Gate gate) gate.pass();
      if (message instanceof Ring) throw new IllegalStateException("on purpose");
    });
    var gate = Gate.occupy(actor);
    for (int i = 0; i < 9; i++) actor.sendMessage(i);
    actor.sendMessage(new Ring());

    gate.open();

    eventually(() -> scope.report().unhandled().get(DeadLetter.Reason.FAILED) == 1 && scope.report().handled() == 10);
  }

  private static ActorWithReturn<Object, Integer> gated(ActorScope scope) {
    return scope.anonymous().newActorWithReturn((Object message) -> {
      if (message instanceof Gate gate) gate.pass();
      return 1;
    });
  }

  private static ActorWithReturn<Object, Integer> deaf() {
    return Variants.scope(o -> o.withKillGrace(Duration.ofMillis(10))).anonymous()
        .newActorWithReturn((Object message) -> {
          if (message instanceof Gate gate) gate.passDeaf();
          return 1;
        });
  }
}
