package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.DeadLetter.Reason;
import io.fibry.engine.cell.Inside;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.spi.BlockBuilder;
import io.fibry.support.Patience;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StashTest {
  record Get(String what) implements Request<Get, String> {}

  private final ActorScope scope = Variants.scope(o -> o);
  private final ActorBuilder<Object> selective =
      scope.named("chooser").mailbox(Mailbox.unbounded().selective()).onFailure(FailurePolicy.resume().withoutLog());
  private final List<Object> seen = new CopyOnWriteArrayList<>();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  @Promise("2.4")
  @Test
  void unstashedMessagesComeFirstInOriginalOrder() {
    var actor = selective.newActor((Object m, ActorContext<Object> context) -> {
      if (m instanceof Gate gate) gate.pass();
      else if (m instanceof Integer && !seen.contains("open")) context.stash();
      else {
        seen.add(m);
        if (m.equals("open")) context.unstash();
      }
    });
    var gate = Gate.occupy(actor);
    for (Object m : new Object[] {1, 2, "open", "after"}) actor.sendMessage(m);

    gate.open();
    actor.close();

    assertEquals(List.of("open", 1, 2, "after"), seen);
    assertEquals(5, scope.report().handled());
  }

  @Test
  void errorAtOneStashedMessageHidesNeitherTheOthersNorTheStopHook() {
    var builder = BlockBuilder.of(selective).ignoreLost(m -> {
      if (m.equals("broken")) throw new StackOverflowError("made up");
      return false;
    }).onFailure(FailurePolicy.resume());
    var actor = builder.initialState(() -> "").onStop(state -> seen.add("stopped"))
        .newActor((String state, Object m, ActorContext<Object> context) -> context.stash());
    for (var m : List.of("broken", "second")) actor.sendMessage(m);
    Patience.eventually(() -> Inside.stashSize(actor) == 2);

    actor.close();

    assertEquals(List.of("stopped"), seen);
    assertEquals(List.of("second"), scope.deadLetters().stream().map(DeadLetter::message).toList());
  }

  @Test
  void aStashedRequestIsAnsweredLater() {
    var actor = selective.newActor((Object m, ActorContext<Object> context) -> {
      if (m.equals("open")) {
        seen.add("open");
        context.unstash();
      } else if (seen.isEmpty()) context.stash();
      else if (m instanceof Get get) context.reply(get, "late");
    });
    var answer = actor.sendMessageReturn(new Get("tea"));

    actor.sendMessage("open");

    assertEquals("late", Patience.value(answer));
    actor.close();
    assertEquals(2, scope.report().handled());
  }

  @Test
  void aRequestCancelledInTheStashIsNeverHandled() {
    var actor = selective.newActor((Object m, ActorContext<Object> context) -> {
      if (m.equals("open")) context.unstash();
      else if (seen.isEmpty()) {
        seen.add("aside");
        context.stash();
      } else seen.add("handled");
    });
    var request = actor.sendMessageReturn(new Get("tea"));
    Patience.eventually(() -> Inside.stashSize(actor) == 1);

    request.cancel(false);
    actor.sendMessage("open");
    actor.close();

    assertEquals(List.of("aside"), seen);
    assertEquals(1, scope.report().unhandled().get(Reason.CANCELLED));
  }

  @Test
  void requestCancelledBeforeStashIsNoFailure() {
    var gate = new Gate();
    var actor = selective.newActor((Object m, ActorContext<Object> context) -> {
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
    var actor = selective.newActor((Object m, ActorContext<Object> context) -> {
      if (m.equals("open")) context.unstash();
      else if (seen.isEmpty()) {
        seen.add("aside");
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
  void stashedMessagesDoNotCountAgainstTheCapacity() {
    var actor = scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.REJECT).selective())
        .newActor((Object m, ActorContext<Object> context) -> {
          context.stash();
          seen.add(m);
        });

    for (int i = 1; i <= 3; i++) {
      int sent = i;
      assertTrue(actor.sendMessage(sent));
      Patience.eventually(() -> seen.size() == sent);
    }

    assertEquals(3, Inside.stashSize(actor));
  }

  @Test
  void stashingTwiceOrAfterTheAnswerIsRefused() {
    var actor = selective.newActor((Object m, ActorContext<Object> context) -> {
      if (m instanceof Get get) context.reply(get, "answered");
      else context.stash();
      seen.add(assertThrows(IllegalStateException.class, context::stash).getMessage().contains("chooser"));
    });

    actor.ask(new Get("tea"));
    actor.sendMessage("aside");
    actor.close();

    assertEquals(List.of(true, true), seen);
  }
}
