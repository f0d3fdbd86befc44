package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.DeadLetter;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.NoReplyException;
import io.fibry.Request;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;

class ReplyTest {
  sealed interface Account {}

  record Deposit(long cents) implements Account {}

  record Balance() implements Account, Request<Balance, Long> {}

  record Withdraw(long cents) implements Account, Request<Withdraw, Boolean> {}

  private final RecordedLetters letters = new RecordedLetters();
  private final ActorScope scope = Variants.scope(letters);
  private final ActorBuilder<Account> builder =
      scope.named("account").onFailure(FailurePolicy.resume().withoutLog()).protocol(Account.class);

  @Test
  void sealedProtocolGivesTypedAnswers() {
    var cents = new long[1];
    Actor<Account> account = builder.newActor((message, context) -> {
      switch (message) {
        case Deposit d -> cents[0] += d.cents();
        case Balance b -> context.reply(b, cents[0]);
        case Withdraw w -> {
          boolean enough = w.cents() <= cents[0];
          if (enough) cents[0] -= w.cents();
          context.reply(w, enough);
        }
      }
    });

    account.sendMessage(new Deposit(5));
    boolean firstWithdrawal = account.ask(new Withdraw(7));
    boolean secondWithdrawal = account.ask(new Withdraw(2));
    long balance = account.ask(new Balance());

    assertFalse(firstWithdrawal);
    assertTrue(secondWithdrawal);
    assertEquals(3, balance);
  }

  @Test
  void handlerMayContinueAfterReply() {
    var gate = new Gate();
    Actor<Account> account = builder.newActor((message, context) -> {
      if (message instanceof Balance b) context.reply(b, 1L);
      gate.pass();
    });

    long balance = account.ask(new Balance());
    gate.open();

    assertEquals(1, balance);
  }

  @Promise("4.12")
  @Test
  void threadCompletingPromiseRunsNoAskerCallback() {
    var promise = new CompletableFuture<Long>();
    var replyPromised = new CompletableFuture<Boolean>();
    Actor<Account> account = builder.newActor((message, context) -> {
      context.replyWhen((Balance) message, promise);
      replyPromised.complete(true);
    });
    var callbackThread =
        CompletableFuture.allOf(account.sendMessageReturn(new Balance())).thenApply(done -> Thread.currentThread());
    Patience.value(replyPromised);

    promise.complete(7L);

    assertNotSame(Thread.currentThread(), Patience.value(callbackThread));
  }

  @Test
  void askerGetsExceptionOfStageThatRefusesCallback() {
    var stage = new CompletableFuture<Long>() {
      @Override
      public CompletableFuture<Long> whenComplete(BiConsumer<? super Long, ? super Throwable> callback) {
        throw new IllegalStateException("thrown by a test");
      }
    };
    Actor<Account> account = builder.newActor((message, context) -> context.replyWhen((Balance) message, stage));

    var failure = Patience.failure(account.sendMessageReturn(new Balance()));

    assertTrue(failure.toString().contains("thrown by a test") || failure.getCause() != null
        && failure.getCause().toString().contains("thrown by a test"), failure.toString());
    assertTrue(scope.awaitQuiescence(Patience.LONG));
  }

  @Promise("4.14")
  @Test
  void equalRequestsAreDistinguishedByIdentity() {
    var requests = new ArrayList<Balance>();
    var actor = scope.anonymous().newActor((Object m, ActorContext<Object> context) -> {
      var balance = (Balance) m;
      requests.add(balance);
      if (requests.size() == 2)
        assertThrows(IllegalArgumentException.class, () -> context.reply(requests.getFirst(), 0L));
      context.reply(balance, (long) requests.size());
    });

    assertEquals(1, actor.ask(new Balance()));
    assertEquals(2, actor.ask(new Balance()));
  }

  @Promise("4.14")
  @Test
  void secondReplyIsRefused() {
    var failure = new CompletableFuture<Throwable>();
    Actor<Account> account = builder.newActor((message, context) -> {
      var balance = (Balance) message;
      context.reply(balance, 1L);
      failure.complete(assertThrows(IllegalArgumentException.class, () -> context.reply(balance, 2L)));
    });

    assertEquals(1, account.ask(new Balance()));

    var text = Patience.value(failure).getMessage();
    for (String word : new String[] {"account", "Balance", "has answered it"}) assertTrue(text.contains(word), text);
  }

  @Promise("4.14")
  @Test
  void replyToPlainMessageIsRefused() {
    Actor<Account> account = builder.newActor((message, context) -> {
      if (message instanceof Balance balance) context.reply(balance, 1L);
    });

    account.sendMessage(new Balance());
    account.close();

    assertInstanceOf(IllegalArgumentException.class, letters.all.getFirst().cause().orElseThrow());
  }

  @Promise("4.14")
  @Test
  void replyAfterHandlerReturnedIsRefused() {
    var contexts = new CopyOnWriteArrayList<ActorContext<Account>>();
    Actor<Account> account = builder.newActor((message, context) -> {
      contexts.add(context);
    });
    var request = new Balance();
    assertThrows(NoReplyException.class, () -> account.ask(request));

    var failure = assertThrows(IllegalStateException.class, () -> contexts.getFirst().reply(request, 1L));

    for (String word : new String[] {"account", "until the handler returns", "self()"})
      assertTrue(failure.getMessage().contains(word), failure.getMessage());
  }

  @Promise("4.14")
  @Test
  void replyFromAnotherThreadIsRefused() {
    Actor<Account> account = builder.newActor((message, context) -> {
      var otherThread = CompletableFuture
          .supplyAsync(() -> assertThrows(IllegalStateException.class, () -> context.reply((Balance) message, 1L)));
      Patience.value(otherThread);
      context.reply((Balance) message, 2L);
    });

    assertEquals(2, account.ask(new Balance()));
  }

  @Test
  void replyFailureIsThrownByAskWithoutFailingActor() {
    var failure = new IOException("no such account");
    Actor<Account> account = builder.newActor((message, context) -> context.replyFailure((Balance) message, failure));

    assertSame(failure, assertThrows(IOException.class, () -> account.ask(new Balance())));
    account.close();

    assertEquals(1, scope.report().handled());
    assertEquals(0, scope.report().unhandled().get(DeadLetter.Reason.FAILED));
  }

  @Promise("8.9")
  @Test
  void replyReachesAskerAlthoughHandlerFailsAfterwards() {
    Actor<Account> account = builder.newActor((message, context) -> {
      context.reply((Balance) message, 1L);
      throw new IllegalStateException("after the answer");
    });

    assertEquals(1, account.ask(new Balance()));
    account.close();

    assertEquals(1, scope.report().unhandled().get(DeadLetter.Reason.FAILED));
  }

  @Promise("4.15")
  @Test
  void nullAnswerIsRefusedByReply() {
    Actor<Account> account = builder.newActor((message, context) -> {
      assertThrows(NullPointerException.class, () -> context.reply((Balance) message, null));
      context.reply((Balance) message, 3L);
    });

    assertEquals(3, account.ask(new Balance()));
  }

  @Test
  void replyToCancelledRequestIsIgnored() {
    var gate = new Gate();
    var replied = new CompletableFuture<Boolean>();
    Actor<Account> account = builder.newActor((message, context) -> {
      gate.pass();
      context.reply((Balance) message, 1L);
      replied.complete(true);
    });
    var request = account.sendMessageReturn(new Balance());
    Patience.await(gate.entered);

    request.cancel(false);
    gate.open();

    assertTrue(Patience.value(replied));
    assertTrue(request.isCancelled());
  }

  // ---- promised answers

  @Test
  void actorHandlesOtherMessagesBeforePromisedAnswerArrives() {
    var stage = new CompletableFuture<Long>();
    Actor<Account> account = builder.newActor((message, context) -> {
      if (message instanceof Balance b) context.replyWhen(b, stage);
      if (message instanceof Withdraw w) context.reply(w, true);
    });

    var answer = account.sendMessageReturn(new Balance());
    boolean withdrawn = account.ask(new Withdraw(1));
    stage.complete(8L);

    assertTrue(withdrawn);
    assertEquals(8L, Patience.value(answer));
  }

  @Test
  void failureOfPromisedStageFailsRequestUnwrapped() {
    var failure = new IOException("disk");
    var stage = new CompletableFuture<Long>();
    Actor<Account> account =
        builder.newActor((message, context) -> context.replyWhen((Balance) message, stage.thenApply(x -> x)));
    var answer = account.sendMessageReturn(new Balance());

    stage.completeExceptionally(failure);

    assertSame(failure, Patience.failure(answer));
  }

  @Promise("4.15")
  @Test
  void promisedStageThatCompletesWithNullFailsRequest() {
    Actor<Account> account = builder
        .newActor((message, context) -> context.replyWhen((Balance) message, CompletableFuture.completedFuture(null)));

    var failure = assertThrows(NullPointerException.class, () -> account.ask(new Balance()));

    for (String word : new String[] {"account", "null", "Optional"})
      assertTrue(failure.getMessage().contains(word), failure.getMessage());
  }

  @Test
  void replyAfterPromiseIsRefused() {
    Actor<Account> account = builder.newActor((message, context) -> {
      context.replyWhen((Balance) message, CompletableFuture.completedFuture(5L));
      assertThrows(IllegalArgumentException.class, () -> context.reply((Balance) message, 6L));
    });

    assertEquals(5, account.ask(new Balance()));
  }

  @Test
  void promisedRequestStaysCancelledWhenStageCompletes() {
    var stage = new CompletableFuture<Long>();
    Actor<Account> account = builder.newActor((message, context) -> {
      if (message instanceof Balance b) context.replyWhen(b, stage);
      if (message instanceof Withdraw w) context.reply(w, true);
    });
    var answer = account.sendMessageReturn(new Balance());
    account.ask(new Withdraw(1));

    answer.cancel(false);
    stage.complete(1L);
    account.close();

    assertTrue(answer.isCancelled());
  }

  @Test
  void promisedStageCompletedAfterActorsEndAnswersNoRequest() {
    var stage = new CompletableFuture<Long>();
    Actor<Account> account = builder.newActor((message, context) -> context.replyWhen((Balance) message, stage));
    var answer = account.sendMessageReturn(new Balance());
    account.close();

    stage.complete(1L);

    assertEquals(new ExitReason.Finished(),
        assertInstanceOf(ActorStoppedException.class, Patience.failure(answer)).reason());
  }

  /** If each chaining waited for a tenth of a second, the test would take an hour. */
  @Test
  void chainingToPromisedAnswerThatArrivedDoesNotWait() {
    var stage = new CompletableFuture<Long>();
    Actor<Account> account = builder.newActor((message, context) -> context.replyWhen((Balance) message, stage));
    var answer = account.sendMessageReturn(new Balance());
    stage.complete(1L);
    Patience.value(answer);

    long sum = 0;
    for (int i = 0; i < 40_000; i++) sum += answer.thenApply(cents -> cents + 1).join();

    assertEquals(80_000, sum);
  }

  @Test
  void requestObjectSentTwiceIsAnsweredTwice() {
    var request = new Balance();
    var answers = new ArrayList<Long>(List.of(1L, 2L));
    Actor<Account> account =
        builder.newActor((message, context) -> context.reply((Balance) message, answers.removeFirst()));

    var first = account.sendMessageReturn(request);
    var second = account.sendMessageReturn(request);

    assertEquals(1L, Patience.value(first));
    assertEquals(2L, Patience.value(second));
  }
}
