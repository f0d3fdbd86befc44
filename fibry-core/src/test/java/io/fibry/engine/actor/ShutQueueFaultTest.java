package io.fibry.engine.actor;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Strategy;
import io.fibry.engine.cell.ActorInternals;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.queue.GuardedQueue;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.testing.Variants;
import org.junit.jupiter.api.Test;

/** Tests the end of an idle actor whose queue cannot refuse its blocked senders. */
class ShutQueueFaultTest {
  private static final Mailbox<Object> MAILBOX = Mailbox.bounded(2, Overflow.BLOCK);

  /** A queue without memory for the list of its blocked senders when it is shut first. */
  private static final class FullHeapQueue extends GuardedQueue<Object> {
    private boolean isFirst = true;
    private volatile boolean isShutAgain;

    FullHeapQueue() {
      super(MAILBOX, System::nanoTime, (message, baggage) -> new Envelope(message, (Baggage) baggage));
    }

    @Override
    public void stopAccepting() {
      if (isFirst) {
        isFirst = false;
        throw new OutOfMemoryError("planned");
      }
      super.stopAccepting();
      isShutAgain = true;
    }
  }

  @Test
  void actorEndsAlthoughShuttingItsQueueRunsOutOfMemory() {
    var template = Variants.scope(o -> o).anonymous().mailbox(MAILBOX).strategy(Strategy.FIBER)
        .newActor((Object message) -> {});
    var queue = new FullHeapQueue();
    var cell = new GuardedCell(ActorInternals.behavior(template), queue);

    cell.askExit();

    Patience.awaitEnd(cell::waitForExit);
    assertTrue(queue.isShutAgain);
  }
}
