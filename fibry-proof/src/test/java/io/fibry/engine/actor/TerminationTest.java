package io.fibry.engine.actor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ExitReason;
import io.fibry.Schedules;
import io.fibry.engine.scope.CheckedActor;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Soak;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests each way to end an actor while other threads send messages and requests. Every message has
 * one outcome: a refused message is never handled. The hooks run once, after the last handler, and
 * all see the same reason.
 */
@Tag("lincheck")
class TerminationTest {
  @Test
  void plainActorEndsOnceWithOneOutcomePerMessage() {
    Schedules.modelCheck(PlainActor.class, 3, 1, 5, 24);
  }

  @Test
  void boundedActorEndsOnceWithOneOutcomePerMessage() {
    Schedules.modelCheck(BoundedActor.class, 3, 1, 4, 18);
  }

  @Test
  void eachSendToEndingBoundedActorHasOneOutcome() {
    Schedules.modelCheck(20, () -> {
      var checkedActor = new CheckedActor(Runnable::run, Mailbox.bounded(1, Overflow.BLOCK));

      var first = Schedules.start(() -> checkedActor.send(0));
      var second = Schedules.start(() -> checkedActor.send(1));
      var third = Schedules.start(() -> checkedActor.send(2));
      checkedActor.cell.askExit();
      Schedules.join(first, second, third);

      assertTrue(checkedActor.cell.onExit().isDone());
      checkedActor.check();
    });
  }

  @Soak(counterpart = "TerminationTest.plainActorEndsOnceWithOneOutcomePerMessage")
  @Test
  void plainActorOnRealThreadsEndsOnceWithOneOutcomePerMessage() {
    Schedules.stress(PlainActor.class, 10, 150);
  }

  @Test
  void actorWithoutHooksEndsOnceWithOneOutcomePerMessage() {
    Schedules.modelCheck(ActorWithoutHooks.class, 3, 1, 5, 12);
  }

  @Test
  void boundedActorWithoutHooksEndsOnceWithOneOutcomePerMessage() {
    Schedules.modelCheck(BoundedActorWithoutHooks.class, 3, 1, 4, 9);
  }

  public static class PlainActor extends EndingActor {
    public PlainActor() {
      super(Mailbox.unbounded(), true);
    }
  }

  public static class BoundedActor extends EndingActor {
    public BoundedActor() {
      super(Mailbox.bounded(1, Overflow.REJECT), true);
    }
  }

  /** An actor without hooks, which any thread may end. */
  public static class ActorWithoutHooks extends EndingActor {
    public ActorWithoutHooks() {
      super(Mailbox.unbounded(), false);
    }
  }

  public static class BoundedActorWithoutHooks extends EndingActor {
    public BoundedActorWithoutHooks() {
      super(Mailbox.bounded(1, Overflow.REJECT), false);
    }
  }

  @Param(name = "sender", gen = ThreadIdGen.class)
  public abstract static class EndingActor {
    private final CheckedActor checkedActor;
    private final boolean hasHook;
    private volatile boolean exitAsked; // askExit was called
    private volatile boolean endAsked; // sendPoisonPill or endIdle was called
    private volatile boolean killAsked;
    // Whether the handler of a message asks for the exit
    private final boolean[] asksExit = new boolean[CheckedActor.MESSAGES];
    private boolean exitAskedByHandler; // written and read by handlers only

    EndingActor(Mailbox<Object> mailbox, boolean hasHook) {
      this.hasHook = hasHook;
      checkedActor = new CheckedActor(Runnable::run, mailbox, new CheckedActor.NeverFiringScheduler(), this::handle);
      if (hasHook) checkedActor.cell.closeOnExit(checkedActor::hook);
    }

    @Operation
    public void send(@Param(name = "sender") int sender) {
      boolean ended = checkedActor.cell.onExit().isDone();
      if (checkedActor.send(sender) && ended) checkedActor.fault("accepted after the end");
    }

    @Operation
    public void request(@Param(name = "sender") int sender) {
      boolean ended = checkedActor.cell.onExit().isDone();
      var answer = checkedActor.request(sender);
      if (ended && !answer.isDone()) checkedActor.fault("a request waits after the end");
    }

    private void handle(CheckedActor actor, int message) {
      if (exitAskedByHandler) actor.fault(message + " was handled after a handler had asked for the end");
      exitAskedByHandler = asksExit[message];
      if (exitAskedByHandler) askExit();
    }

    @Operation
    public void sendMessageWhoseHandlerAsksExit(@Param(name = "sender") int sender) {
      int message = checkedActor.nextMessage(sender);
      asksExit[message] = true;
      checkedActor.recordSend(message, checkedActor.actor.sendMessage(message));
    }

    @Operation
    public void askExit() {
      exitAsked = true;
      checkedActor.cell.askExit();
    }

    @Operation
    public void sendPoisonPill() {
      endAsked = true;
      checkedActor.cell.sendPoisonPill();
    }

    @Operation
    public void endWithoutThread() {
      endAsked = true;
      boolean ended = checkedActor.cell.endIdle();
      if (!ended) checkedActor.cell.sendPoisonPill();
      else if (hasHook) checkedActor.fault("the hook does not run on the actor's own thread");
      else if (!checkedActor.cell.onExit().isDone()) checkedActor.fault("the actor did not end");
    }

    @Operation
    public void kill() {
      killAsked = true;
      checkedActor.cell.kill();
    }

    @Validate
    public void check() {
      boolean endIsAsked = exitAsked || endAsked || killAsked;
      var exit = checkedActor.cell.onExit();
      if (endIsAsked != exit.isDone())
        checkedActor.fault(endIsAsked ? "the actor did not end" : "the actor ended by itself");
      if (checkedActor.hookRuns != (endIsAsked && hasHook ? 1 : 0))
        checkedActor.fault("the hooks ran " + checkedActor.hookRuns + " times");
      if (exit.isDone()) checkReason(exit.join());
      checkedActor.check();
    }

    private void checkReason(ExitReason reason) {
      assertEquals(checkedActor.cell.extras().reason(), reason);
      boolean isExpected = switch (reason) {
        case ExitReason.Stopped stopped -> exitAsked;
        case ExitReason.Finished finished -> endAsked;
        case ExitReason.Killed kill -> killAsked;
        case ExitReason.Failed failed -> false;
      };
      if (!isExpected) checkedActor.fault("no thread asked for the exit reason " + reason);
      // A kill may replace the reason with which requests have failed
      if (!killAsked) checkedActor.checkRequestsFailedBecause(reason);
    }
  }
}
