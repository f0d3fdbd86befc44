package io.fibry.engine.actor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ExitReason;
import io.fibry.Schedules;
import io.fibry.engine.scope.Witness;
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
 * Each way to end races with sends and requests. Every message has one outcome: a refused one is
 * never handled. The hooks run once, after the last handler, and all see the same reason.
 */
@Tag("lincheck")
class TerminationTest {
  @Test
  void plainActorEndsOnceAndAccountsForAll() {
    Schedules.modelCheck(Plain.class, 3, 1, 5, 24);
  }

  @Test
  void boundedActorEndsOnceAndAccountsForAll() {
    Schedules.modelCheck(Bounded.class, 3, 1, 4, 18);
  }

  @Test
  void sendersOfABoundedActorAreAllAccountedForWhenItEnds() {
    Schedules.modelCheck(20, () -> {
      var witness = new Witness(Runnable::run, Mailbox.bounded(1, Overflow.BLOCK));

      var first = Schedules.start(() -> witness.send(0));
      var second = Schedules.start(() -> witness.send(1));
      var third = Schedules.start(() -> witness.send(2));
      witness.cell.askExit();
      Schedules.join(first, second, third);

      assertTrue(witness.cell.onExit().isDone());
      witness.check();
    });
  }

  @Soak(counterpart = "TerminationTest.plainActorEndsOnceAndAccountsForAll")
  @Test
  void plainActorOnRealThreadsEndsOnceAndAccountsForAll() {
    Schedules.stress(Plain.class, 10, 150);
  }

  @Test
  void bareActorEndsOnceAndAccountsForAll() {
    Schedules.modelCheck(Bare.class, 3, 1, 5, 12);
  }

  @Test
  void bareBoundedActorEndsOnceAndAccountsForAll() {
    Schedules.modelCheck(BareBounded.class, 3, 1, 4, 9);
  }

  public static class Plain extends Ending {
    public Plain() {
      super(Mailbox.unbounded(), true);
    }
  }

  public static class Bounded extends Ending {
    public Bounded() {
      super(Mailbox.bounded(1, Overflow.REJECT), true);
    }
  }

  /** Without hooks: any thread may end it. */
  public static class Bare extends Ending {
    public Bare() {
      super(Mailbox.unbounded(), false);
    }
  }

  public static class BareBounded extends Ending {
    public BareBounded() {
      super(Mailbox.bounded(1, Overflow.REJECT), false);
    }
  }

  @Param(name = "sender", gen = ThreadIdGen.class)
  public abstract static class Ending {
    private final Witness witness;
    private final boolean hasHook;
    private volatile boolean stops; // askExit was called
    private volatile boolean finishes; // sendPoisonPill or endIdle was called
    private volatile boolean killed;
    // by message: its handler asks for the end
    private final boolean[] last = new boolean[Witness.MESSAGES];
    private boolean asked; // used by handlers only

    Ending(Mailbox<Object> mailbox, boolean hasHook) {
      this.hasHook = hasHook;
      witness = new Witness(Runnable::run, mailbox, new Witness.Never(), this::handle);
      if (hasHook) witness.cell.closeOnExit(witness::hook);
    }

    @Operation
    public void send(@Param(name = "sender") int sender) {
      boolean ended = witness.cell.onExit().isDone();
      if (witness.send(sender) && ended) witness.fault("taken after the end");
    }

    @Operation
    public void request(@Param(name = "sender") int sender) {
      boolean ended = witness.cell.onExit().isDone();
      var answer = witness.request(sender);
      if (ended && !answer.isDone()) witness.fault("a request waits after the end");
    }

    private void handle(Witness actor, int message) {
      if (asked) actor.fault(message + " was handled after a handler had asked for the end");
      asked = last[message];
      if (asked) askExit();
    }

    @Operation
    public void sendOneWhoseHandlerAsksForTheEnd(@Param(name = "sender") int sender) {
      int message = witness.number(sender);
      last[message] = true;
      witness.note(message, witness.actor.sendMessage(message));
    }

    @Operation
    public void askExit() {
      stops = true;
      witness.cell.askExit();
    }

    @Operation
    public void sendPoisonPill() {
      finishes = true;
      witness.cell.sendPoisonPill();
    }

    @Operation
    public void endWithoutAThread() {
      finishes = true;
      boolean ended = witness.cell.endIdle();
      if (!ended) witness.cell.sendPoisonPill();
      else if (hasHook) witness.fault("its hook does not run on its own thread");
      else if (!witness.cell.onExit().isDone()) witness.fault("it did not end");
    }

    @Operation
    public void kill() {
      killed = true;
      witness.cell.kill();
    }

    @Validate
    public void check() {
      boolean told = stops || finishes || killed;
      var exit = witness.cell.onExit();
      if (told != exit.isDone()) witness.fault(told ? "it did not end" : "it ended by itself");
      if (witness.hooks != (told && hasHook ? 1 : 0)) witness.fault("its hooks ran " + witness.hooks + " times");
      if (exit.isDone()) checkReason(exit.join());
      witness.check();
    }

    private void checkReason(ExitReason reason) {
      assertEquals(witness.cell.extras().reason(), reason);
      boolean fits = switch (reason) {
        case ExitReason.Stopped stopped -> stops;
        case ExitReason.Finished finished -> finishes;
        case ExitReason.Killed how -> killed;
        case ExitReason.Failed failed -> false;
      };
      if (!fits) witness.fault("nobody asked for an end that is " + reason);
      // a kill may overrule the reason that requests saw
      if (!killed) witness.requestsFailedBecause(reason);
    }
  }
}
