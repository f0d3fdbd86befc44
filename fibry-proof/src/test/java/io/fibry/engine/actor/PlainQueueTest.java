package io.fibry.engine.actor;

import io.fibry.Schedules;
import io.fibry.engine.scope.CheckedActor;
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
 * Tests the plain queue and its right to run. A sender that finds the actor idle runs the actor.
 * Every message is handled once, in its sender's order, by one handler at a time. The messages of a
 * block are handled together.
 */
@Tag("lincheck")
class PlainQueueTest {
  @Test
  void everyMessageIsHandledOnceInOrderByOneThreadAtATime() {
    Schedules.modelCheck(SendingActor.class, 3, 1, 5, 150);
  }

  @Soak(counterpart = "PlainQueueTest.everyMessageIsHandledOnceInOrderByOneThreadAtATime")
  @Test
  void realThreadsHandleEveryMessageOnceInOrder() {
    Schedules.stress(SendingActor.class, 10, 150);
  }

  /** Runs three senders, and a handler that also sends. */
  @Param(name = "sender", gen = ThreadIdGen.class)
  public static class SendingActor {
    private static final int SELF = 5;
    private final CheckedActor checkedActor = new CheckedActor(Runnable::run, Mailbox.unbounded(),
        new CheckedActor.NeverFiringScheduler(), this::handle);
    // Whether a message is the first of a block of two
    private final boolean[] isFirstOfBlock = new boolean[CheckedActor.MESSAGES];
    private int expected; // the second message of a block, which must be handled next, or 0

    private void handle(CheckedActor actor, int message) {
      if (expected != 0 && expected != message) actor.fault(message + " came into a block");
      expected = isFirstOfBlock[message] ? message + 1 : 0;
      if (message == CheckedActor.FIRST_MESSAGE) actor.send(SELF);
    }

    @Operation
    public void send(@Param(name = "sender") int sender) {
      checkedActor.send(sender);
    }

    @Operation
    public void request(@Param(name = "sender") int sender) {
      checkedActor.request(sender);
    }

    @Operation
    public void sendBlock(@Param(name = "sender") int sender) {
      int first = checkedActor.nextMessage(sender);
      int second = checkedActor.nextMessage(sender);
      isFirstOfBlock[first] = true;
      boolean isAccepted = checkedActor.actor.sendMessages(List.of(first, second));
      checkedActor.recordSend(first, isAccepted);
      checkedActor.recordSend(second, isAccepted);
    }

    @Validate
    public void check() {
      checkedActor.check();
    }
  }
}
