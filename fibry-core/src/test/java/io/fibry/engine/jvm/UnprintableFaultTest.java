package io.fibry.engine.jvm;

import static io.fibry.support.Patience.awaitEnd;
import static io.fibry.support.Patience.eventually;
import static io.fibry.support.Patience.failure;
import static io.fibry.support.Patience.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ActorWithReturn;
import io.fibry.DeadLetter;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.testing.Gate;
import io.fibry.testing.Variants;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests messages whose toString throws an Error, for example because objects print each other in a
 * cycle. Logs and exceptions with such messages must not stop an actor.
 */
class UnprintableFaultTest {

  /** A message whose toString overflows the stack. */
  private static final class Unprintable {
    @Override
    public String toString() {
      throw new StackOverflowError("a cycle of objects");
    }
  }

  @AfterEach
  void openGates() {
    Gate.openAll();
  }

  @Test
  void unprintableRequestAfterPillGetsActorStoppedException() {
    var actor = newGatedActor(Variants.scope(o -> o));
    var gate = Gate.occupy(actor);
    actor.sendPoisonPill();

    var request = actor.sendMessageReturn(new Unprintable());
    gate.open();

    assertInstanceOf(ActorStoppedException.class, failure(request));
  }

  @Test
  void actorEndsDespiteRequestWithThrowingToStringAfterPill() {
    var actor = newGatedActor(Variants.scope(o -> o));
    var gate = Gate.occupy(actor);
    actor.sendPoisonPill();

    actor.sendMessageReturn(new Unprintable());
    gate.open();

    awaitEnd(actor::waitForExit);
  }

  @Test
  void stopPolicyStopsActorAtMessageWithThrowingToString() {
    var actor = Variants.scope(o -> o).anonymous().onFailure(FailurePolicy.stop()).newActor((Object message) -> {
      throw new IllegalStateException("on purpose");
    });

    actor.sendMessage(new Unprintable());

    awaitEnd(actor::waitForExit);
  }

  @Test
  void queuedRequestWithThrowingToStringFailsOnCutOff() {
    var actor = newDeafActor();
    Gate.occupy(actor);
    var request = actor.sendMessageReturn(new Unprintable());

    actor.kill();

    assertInstanceOf(ActorStoppedException.class, failure(request));
  }

  @Test
  void requestBehindRequestWithThrowingToStringFailsOnCutOff() {
    var actor = newDeafActor();
    Gate.occupy(actor);
    actor.sendMessageReturn(new Unprintable());
    var nextRequest = actor.sendMessageReturn("printable");

    actor.kill();

    assertInstanceOf(ActorStoppedException.class, failure(nextRequest));
  }

  @Test
  void requestWithThrowingToStringCanBeCancelledAfterCutOff() {
    var actor = newDeafActor();
    Gate.occupy(actor);
    var request = actor.sendMessageReturn(new Unprintable());
    actor.kill();
    awaitEnd(actor::waitForExit);

    var canceller = Thread.ofPlatform().daemon().start(() -> request.cancel(true));

    awaitEnd(canceller);
  }

  @Test
  void requestAfterStashedMessageWithThrowingToStringIsAnswered() {
    var actor = Variants.scope(o -> o).anonymous().strategy(Strategy.THREAD).mailbox(Mailbox.unbounded().selective())
        .newActorWithReturn((Object message, ActorContext<Object> context) -> {
          if (!(message instanceof Unprintable)) return 1;
          context.stash();
          throw new IllegalStateException("on purpose");
        });
    actor.sendMessage(new Unprintable());

    var nextRequest = actor.sendMessageReturn("printable");

    assertEquals(1, value(nextRequest));
  }

  @Test
  void actorEndsDespiteStashedRequestWithThrowingToString() {
    var scope = Variants.scope(o -> o);
    var actor = scope.anonymous().mailbox(Mailbox.unbounded().selective())
        .newActorWithReturn((Object message, ActorContext<Object> context) -> {
          context.stash();
          return 1;
        });
    actor.sendMessageReturn(new Unprintable());

    actor.sendPoisonPill();

    awaitEnd(actor::waitForExit);
  }

  @Test
  void messagesBeforeUnprintableMessageCountAsHandled() {
    var scope = Variants.scope(o -> o);
    var actor = scope.anonymous().newActor((Object message) -> {
      if (message instanceof Gate gate) gate.pass();
      if (message instanceof Unprintable) throw new IllegalStateException("on purpose");
    });
    var gate = Gate.occupy(actor);
    for (int i = 0; i < 9; i++) actor.sendMessage(i);
    actor.sendMessage(new Unprintable());

    gate.open();

    eventually(() -> scope.report().unhandled().get(DeadLetter.Reason.FAILED) == 1 && scope.report().handled() == 10);
  }

  private static ActorWithReturn<Object, Integer> newGatedActor(ActorScope scope) {
    return scope.anonymous().newActorWithReturn((Object message) -> {
      if (message instanceof Gate gate) gate.pass();
      return 1;
    });
  }

  private static ActorWithReturn<Object, Integer> newDeafActor() {
    return Variants.scope(o -> o.withKillGrace(Duration.ofMillis(10))).anonymous()
        .newActorWithReturn((Object message) -> {
          if (message instanceof Gate gate) gate.passUninterruptibly();
          return 1;
        });
  }
}
