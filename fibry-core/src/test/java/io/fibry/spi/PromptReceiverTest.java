package io.fibry.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PromptReceiverTest {
  private final ActorScope scope = ActorSystem.openScope("prompt-receiver-test");

  @AfterEach
  void close() {
    scope.close();
  }

  private Actor<String> actor(Mailbox<Object> mailbox) {
    return scope.anonymous().mailbox(mailbox).newActor(message -> {});
  }

  private Actor<String> actor(Strategy strategy) {
    return scope.anonymous().strategy(strategy).newActor(message -> {});
  }

  @Test
  void onlyFullMailboxThatBlocksMakesSendersWait() {
    assertEquals(true, PromptReceiver.isPrompt(actor(Mailbox.unbounded())));
    for (var overflow : Overflow.values())
      assertEquals(overflow != Overflow.BLOCK, PromptReceiver.isPrompt(actor(Mailbox.bounded(1, overflow))),
          "" + overflow);
  }

  @Test
  void strategyOfUserMayRunHandlerOnSendersThread() {
    for (var strategy : new Strategy[] {Strategy.FIBER, Strategy.THREAD, Strategy.RESIDENT_FIBER})
      assertEquals(true, PromptReceiver.isPrompt(actor(strategy)));
    assertEquals(false, PromptReceiver.isPrompt(actor(Strategy.CALLER)));
    assertEquals(false, PromptReceiver.isPrompt(actor(Strategy.of(Runnable::run))));
  }

  @Test
  void clockOfUserRunsOnSendersThreadIfMailboxMeasuresTime() {
    try (var clockScope = ActorSystem.openScope("clock", options -> options.withScheduler(new ManualScheduler()))) {
      for (var measuringScope : List.of(scope, clockScope)) {
        Actor<String> unlimited = measuringScope.anonymous().mailbox(Mailbox.bounded(1, Overflow.REJECT))
            .newActor(message -> {});
        Actor<String> limited = measuringScope.anonymous()
            .mailbox(Mailbox.bounded(1, Overflow.REJECT).withMaxWait(Duration.ofSeconds(1))).newActor(message -> {});

        assertEquals(true, ((PromptReceiver) unlimited).sendsWithoutUserCode());
        assertEquals(measuringScope == scope, ((PromptReceiver) limited).sendsWithoutUserCode());
      }
    }
  }

  @Test
  void comparatorOfUserRunsOnSendersThread() {
    Mailbox<String> mailbox = Mailbox.priority(Comparator.naturalOrder());

    assertEquals(false, PromptReceiver.isPrompt(scope.anonymous().mailbox(mailbox).newActor((String message) -> {})));
  }
}
