package io.fibry.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import java.util.Comparator;
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
  void comparatorOfUserRunsOnSendersThread() {
    Mailbox<String> mailbox = Mailbox.priority(Comparator.naturalOrder());

    assertEquals(false, PromptReceiver.isPrompt(scope.anonymous().mailbox(mailbox).newActor((String message) -> {})));
  }
}
