package io.fibry.engine.cell;

import static io.fibry.support.Patience.ended;
import static io.fibry.support.Patience.joined;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorContext;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.Gate;
import io.fibry.Hush;
import io.fibry.Request;
import io.fibry.Strategy;
import io.fibry.Variants;
import io.fibry.mailbox.Mailbox;
import io.fibry.support.Soak;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Calls that end something, at every depth on the way back from a stack overflow. The first call
 * that can finish does its work completely.
 */
@ExtendWith(Hush.class)
class StackEdgeEndFaultTest {
  private static final int EPISODES = Soak.ON ? 100 : 20;

  private record Question() implements Request<Question, Integer> {}

  @AfterEach
  void openGates() {
    Gate.openAll();
  }

  @Test
  void anActorEndsWhenAskedToAtTheEdgeOfAStack() {
    for (int i = 0; i < EPISODES; i++) {
      var actor = Variants.scope(o -> o).anonymous().mailbox(mailbox(i)).newActor((Object message) -> {});

      onASmallStack(() -> climbAsking(actor));

      actor.askExit();
      ended(actor::waitForExit);
    }
  }

  private static void climbAsking(Exitable actor) {
    try {
      climbAsking(actor);
    } finally {
      actor.askExit();
    }
  }

  @Test
  void aReplyAtTheEdgeOfAStackLeavesNoRequestIncomplete() {
    int incomplete = 0;
    for (int i = 0; i < EPISODES; i++)
      if (!answeredAtTheEdge(i % 2 == 0 ? Strategy.FIBER : Strategy.THREAD)) incomplete++;

    assertEquals(0, incomplete, "of " + EPISODES);
  }

  private static boolean answeredAtTheEdge(Strategy strategy) {
    var climb = new Climb();
    var actor = Variants.scope(o -> o).anonymous().strategy(strategy).onFailure(FailurePolicy.resume().withoutLog())
        .newActor((Question question, ActorContext<Question> context) -> climb.reply(question, context));
    var request = actor.sendMessageReturn(new Question());
    actor.sendPoisonPill();
    ended(actor::waitForExit);
    return request.isDone();
  }

  private static final class Climb {
    private boolean done;

    private void reply(Question question, ActorContext<Question> context) {
      try {
        climb(question, context);
      } catch (StackOverflowError edge) {
        // intended
      }
    }

    private void climb(Question question, ActorContext<Question> context) {
      try {
        climb(question, context);
      } finally {
        if (!done) tryToReply(question, context);
      }
    }

    private void tryToReply(Question question, ActorContext<Question> context) {
      try {
        context.reply(question, 1);
        done = true;
      } catch (IllegalArgumentException answeredBefore) {
        done = true;
      }
    }
  }

  @Test
  void aCancelAtTheEdgeOfAStackLeavesNoRequestIncomplete() {
    int incomplete = 0;
    for (int i = 0; i < EPISODES; i++) if (!cancelledAtTheEdge(mailbox(i))) incomplete++;

    assertEquals(0, incomplete, "of " + EPISODES);
  }

  private static boolean cancelledAtTheEdge(Mailbox<Object> mailbox) {
    var actor = Variants.scope(o -> o).anonymous().mailbox(mailbox).newActorWithReturn((Object message) -> {
      if (message instanceof Gate gate) gate.pass();
      return 1;
    });
    var gate = Gate.occupy(actor);
    var request = actor.sendMessageReturn("question");
    onASmallStack(() -> climbCancelling(request));
    gate.open();
    actor.sendPoisonPill();
    ended(actor::waitForExit);
    return request.isDone();
  }

  private static void climbCancelling(CompletableFuture<?> request) {
    try {
      climbCancelling(request);
    } finally {
      if (!request.isDone()) request.cancel(false);
    }
  }

  private static Mailbox<Object> mailbox(int episode) {
    return episode % 2 == 0 ? Mailbox.unbounded() : Mailbox.priority((a, b) -> 0);
  }

  private static void onASmallStack(Runnable climb) {
    var thread = new Thread(null, () -> overflow(climb), "climber", 200_000);
    thread.setDaemon(true);
    thread.start();
    joined(thread);
  }

  private static void overflow(Runnable climb) {
    try {
      climb.run();
    } catch (StackOverflowError edge) {
      // intended
    }
  }
}
