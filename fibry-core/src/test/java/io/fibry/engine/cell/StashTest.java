package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.DeadLetter;
import io.fibry.DeadLetter.Reason;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.spi.BlockBuilder;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StashTest {
  record Get(String name) implements Request<Get, String> {}

  private final ActorScope scope = Variants.scope(o -> o);
  private final ActorBuilder<Object> selectiveBuilder =
      scope.named("chooser").mailbox(Mailbox.unbounded().selective()).onFailure(FailurePolicy.resume().withoutLog());
  private final List<Object> log = new CopyOnWriteArrayList<>();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  @Promise("2.4")
  @Test
  void unstashedMessagesComeFirstInOriginalOrder() {
    var actor = selectiveBuilder.newActor((Object m, ActorContext<Object> context) -> {
      if (m instanceof Gate gate) gate.pass();
      else if (m instanceof Integer && !log.contains("open")) context.stash();
      else {
        log.add(m);
        if (m.equals("open")) context.unstash();
      }
    });
    var gate = Gate.occupy(actor);
    for (Object m : new Object[] {1, 2, "open", "after"}) actor.sendMessage(m);

    gate.open();
    actor.close();

    assertEquals(List.of("open", 1, 2, "after"), log);
    assertEquals(5, scope.report().handled());
  }

  @Test
  void stopHookRunsDespiteErrorAtUndeliveredStashedMessage() {
    var builder = BlockBuilder.of(selectiveBuilder).ignoreLost(m -> {
      if (m.equals("broken")) throw new StackOverflowError("planned");
      return false;
    }).onFailure(FailurePolicy.resume());
    var actor = builder.initialState(() -> "").onStop(state -> log.add("stopped"))
        .newActor((String state, Object m, ActorContext<Object> context) -> context.stash());
    for (var m : List.of("broken", "second")) actor.sendMessage(m);
    Patience.eventually(() -> ActorInternals.stashSize(actor) == 2);

    actor.close();

    assertEquals(List.of("stopped"), log);
    assertEquals(List.of("second"), scope.deadLetters().stream().map(DeadLetter::message).toList());
  }

  @Test
  void stashedRequestIsAnsweredAfterUnstash() {
    var actor = selectiveBuilder.newActor((Object m, ActorContext<Object> context) -> {
      if (m.equals("open")) {
        log.add("open");
        context.unstash();
      } else if (log.isEmpty()) context.stash();
      else if (m instanceof Get get) context.reply(get, "late");
    });
    var answer = actor.sendMessageReturn(new Get("tea"));

    actor.sendMessage("open");

    assertEquals("late", Patience.value(answer));
    actor.close();
    assertEquals(2, scope.report().handled());
  }

  @Test
  void requestCancelledInStashIsNotHandled() {
    var actor = selectiveBuilder.newActor((Object m, ActorContext<Object> context) -> {
      if (m.equals("open")) context.unstash();
      else if (log.isEmpty()) {
        log.add("stashed");
        context.stash();
      } else log.add("handled");
    });
    var request = actor.sendMessageReturn(new Get("tea"));
    Patience.eventually(() -> ActorInternals.stashSize(actor) == 1);

    request.cancel(false);
    actor.sendMessage("open");
    actor.close();

    assertEquals(List.of("stashed"), log);
    assertEquals(1, scope.report().unhandled().get(Reason.CANCELLED));
  }

  @Test
  void requestCancelledBeforeStashCountsAsCancelledNotFailed() {
    var gate = new Gate();
    var actor = selectiveBuilder.newActor((Object m, ActorContext<Object> context) -> {
      gate.pass();
      context.stash();
    });
    var request = actor.sendMessageReturn(new Get("tea"));
    Patience.await(gate.entered);

    request.cancel(false);
    gate.open();
    actor.close();

    assertEquals(0, scope.report().unhandled().get(Reason.FAILED));
    assertEquals(1, scope.report().unhandled().get(Reason.CANCELLED));
  }

  @Promise("3.1")
  @Test
  void messageHasOneOutcomeWhenHandlerFailsAfterStash() {
    var actor = selectiveBuilder.newActor((Object m, ActorContext<Object> context) -> {
      if (m.equals("open")) context.unstash();
      else if (log.isEmpty()) {
        log.add("stashed");
        context.stash();
        throw new IllegalStateException("bad");
      } else context.reply((Get) m, "fine");
    });
    var answer = actor.sendMessageReturn(new Get("tea"));

    actor.sendMessage("open");

    assertEquals("fine", Patience.value(answer));
    actor.close();
    assertEquals(2, scope.report().handled());
    assertEquals(0, scope.report().unhandled().get(Reason.FAILED));
  }

  @Test
  void stashedMessagesDoNotCountTowardCapacity() {
    var actor = scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.REJECT).selective())
        .newActor((Object m, ActorContext<Object> context) -> {
          context.stash();
          log.add(m);
        });

    for (int i = 1; i <= 3; i++) {
      int number = i;
      assertTrue(actor.sendMessage(number));
      Patience.eventually(() -> log.size() == number);
    }

    assertEquals(3, ActorInternals.stashSize(actor));
  }

  @Test
  void stashIsRefusedAfterStashOrReply() {
    var actor = selectiveBuilder.newActor((Object m, ActorContext<Object> context) -> {
      if (m instanceof Get get) context.reply(get, "answered");
      else context.stash();
      log.add(assertThrows(IllegalStateException.class, context::stash).getMessage().contains("chooser"));
    });

    actor.ask(new Get("tea"));
    actor.sendMessage("stashed");
    actor.close();

    assertEquals(List.of(true, true), log);
  }
}
