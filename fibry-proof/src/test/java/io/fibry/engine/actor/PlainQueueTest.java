package io.fibry.engine.actor;

import io.fibry.Schedules;
import io.fibry.engine.scope.Witness;
import io.fibry.mailbox.Mailbox;
import io.fibry.support.Soak;
import java.util.List;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The plain queue and its right to run. A sender that finds the actor idle runs it. Every message
 * is handled once, in its sender's order, blocks in one piece, by one handler at a time.
 */
@Tag("lincheck")
class PlainQueueTest {
  @Test
  void everyMessageIsHandledOnceInOrderByOneThreadAtATime() {
    Schedules.modelCheck(Sending.class, 3, 1, 5, 150);
  }

  @Soak(counterpart = "PlainQueueTest.everyMessageIsHandledOnceInOrderByOneThreadAtATime")
  @Test
  void realThreadsHandleEveryMessageOnceInOrder() {
    Schedules.stress(Sending.class, 10, 150);
  }

  /** Three senders; the handler sends too. */
  @Param(name = "sender", gen = ThreadIdGen.class)
  public static class Sending {
    private static final int SELF = 5;
    private final Witness witness = new Witness(Runnable::run, Mailbox.unbounded(), new Witness.Never(), this::handle);
    // by message: the first of a block of two
    private final boolean[] opens = new boolean[Witness.MESSAGES];
    private int second; // the second entry of a block, to be handled next, or 0

    private void handle(Witness actor, int message) {
      if (second != 0 && second != message) actor.fault(message + " came into a block");
      second = opens[message] ? message + 1 : 0;
      if (message == Witness.FIRST) actor.send(SELF);
    }

    @Operation
    public void send(@Param(name = "sender") int sender) {
      witness.send(sender);
    }

    @Operation
    public void request(@Param(name = "sender") int sender) {
      witness.request(sender);
    }

    @Operation
    public void sendTwoInOne(@Param(name = "sender") int sender) {
      int first = witness.number(sender);
      int next = witness.number(sender);
      opens[first] = true;
      boolean taken = witness.actor.sendMessages(List.of(first, next));
      witness.note(first, taken);
      witness.note(next, taken);
    }

    @Validate
    public void check() {
      witness.check();
    }
  }
}
