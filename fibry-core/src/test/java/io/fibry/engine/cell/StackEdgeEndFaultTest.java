package io.fibry.engine.cell;

import static io.fibry.support.Patience.awaitEnd;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorContext;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.support.Soak;
import io.fibry.testing.Gate;
import io.fibry.testing.OverflowingSender;
import io.fibry.testing.SilencedStdErr;
import io.fibry.testing.Variants;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tests calls that end an actor or complete a request. After a stack overflow, the test makes such
 * a call at every depth on the way back. The first call that has enough stack must do its work
 * completely.
 */
@ExtendWith(SilencedStdErr.class)
class StackEdgeEndFaultTest {
  private static final int EPISODES = Soak.ON ? 100 : 20;

  private record Question() implements Request<Question, Integer> {}

  @AfterEach
  void openGates() {
    Gate.openAll();
  }

  @Test
  void actorEndsAfterAskExitNearEndOfStack() {
    for (int i = 0; i < EPISODES; i++) {
      var actor = Variants.scope(o -> o).anonymous().mailbox(mailbox(i)).newActor((Object message) -> {});

      runOnSmallStack(() -> askExitAtEveryDepth(actor));

      actor.askExit();
      awaitEnd(actor::waitForExit);
    }
  }

  private static void askExitAtEveryDepth(Exitable actor) {
    try {
      askExitAtEveryDepth(actor);
    } finally {
      actor.askExit();
    }
  }

  @Test
  void replyNearEndOfStackCompletesRequest() {
    int incompleteCount = 0;
    for (int i = 0; i < EPISODES; i++)
      if (!isCompletedByReply(i % 2 == 0 ? Strategy.FIBER : Strategy.THREAD)) incompleteCount++;

    assertEquals(0, incompleteCount, "incomplete requests in " + EPISODES + " episodes");
  }

  private static boolean isCompletedByReply(Strategy strategy) {
    var replier = new ReplyAtEveryDepth();
    var actor = Variants.scope(o -> o).anonymous().strategy(strategy).onFailure(FailurePolicy.resume().withoutLog())
        .newActor((Question question, ActorContext<Question> context) -> replier.reply(question, context));
    var request = actor.sendMessageReturn(new Question());
    actor.sendPoisonPill();
    awaitEnd(actor::waitForExit);
    return request.isDone();
  }

  private static final class ReplyAtEveryDepth {
    private boolean replied;

    private void reply(Question question, ActorContext<Question> context) {
      try {
        replier(question, context);
      } catch (StackOverflowError expected) {
        // the overflow is intended
      }
    }

    private void replier(Question question, ActorContext<Question> context) {
      try {
        replier(question, context);
      } finally {
        if (!replied) tryToReply(question, context);
      }
    }

    private void tryToReply(Question question, ActorContext<Question> context) {
      try {
        context.reply(question, 1);
        replied = true;
      } catch (IllegalArgumentException alreadyReplied) {
        replied = true;
      }
    }
  }

  @Test
  void cancelNearEndOfStackCompletesRequest() {
    int incompleteCount = 0;
    for (int i = 0; i < EPISODES; i++) if (!isCompletedByCancel(mailbox(i))) incompleteCount++;

    assertEquals(0, incompleteCount, "incomplete requests in " + EPISODES + " episodes");
  }

  private static boolean isCompletedByCancel(Mailbox<Object> mailbox) {
    var actor = Variants.scope(o -> o).anonymous().mailbox(mailbox).newActorWithReturn((Object message) -> {
      if (message instanceof Gate gate) gate.pass();
      return 1;
    });
    var gate = Gate.occupy(actor);
    var request = actor.sendMessageReturn("question");
    runOnSmallStack(() -> cancelAtEveryDepth(request));
    gate.open();
    actor.sendPoisonPill();
    awaitEnd(actor::waitForExit);
    return request.isDone();
  }

  private static void cancelAtEveryDepth(CompletableFuture<?> request) {
    try {
      cancelAtEveryDepth(request);
    } finally {
      if (!request.isDone()) request.cancel(false);
    }
  }

  private static Mailbox<Object> mailbox(int episode) {
    return episode % 2 == 0 ? Mailbox.unbounded() : Mailbox.priority((a, b) -> 0);
  }

  private static void runOnSmallStack(Runnable replier) {
    var thread = OverflowingSender.smallStack(() -> overflow(replier));
    thread.setDaemon(true);
    thread.start();
    awaitEnd(thread);
  }

  private static void overflow(Runnable replier) {
    try {
      replier.run();
    } catch (StackOverflowError expected) {
      // the overflow is intended
    }
  }
}
