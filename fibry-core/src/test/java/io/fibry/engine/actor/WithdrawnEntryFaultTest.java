package io.fibry.engine.actor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter.Reason;
import io.fibry.Strategy;
import io.fibry.engine.cell.ActorInternals;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.queue.GuardedQueue;
import io.fibry.engine.queue.QueueEntry;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests a sender whose stack is too small to start an idle actor, while another thread cancels the
 * request. The sender cannot withdraw the request, so it keeps the right to run.
 */
class WithdrawnEntryFaultTest {
  private static final Mailbox<Object> MAILBOX = Mailbox.bounded(2, Overflow.BLOCK);

  private final ArrayDeque<Runnable> activations = new ArrayDeque<>();
  private final List<Object> handled = new ArrayList<>();
  private final ActorScope scope = ActorSystem.openScope("withdrawn entries");

  @AfterEach
  void close() {
    activations.forEach(Runnable::run);
    scope.closeWithin(Duration.ZERO);
  }

  /** Cancels its first request when the sender probes the stack, and fails the probe. */
  private static final class CancellingCell extends GuardedCell {
    private RequestFuture<?> request;

    CancellingCell(Object template) {
      super(ActorInternals.behavior(template), new GuardedQueue<Object>(MAILBOX, System::nanoTime,
          (message, baggage) -> new Envelope(message, (Baggage) baggage)) {
        /** Gives the right to run, as if the actor had become idle during the call. */
        @Override
        public EnterResult enter(QueueEntry<Object> entry, boolean mayWait) {
          return offer(entry, mayWait);
        }
      });
    }

    @Override
    protected Reason offer(Object node, Object message, Deadline deadline) {
      if (request == null && node instanceof RequestFuture<?> future) request = future;
      return super.offer(node, message, deadline);
    }

    @Override
    void probeStack() {
      if (request == null || request.isDone()) return;
      request.cancel(true);
      throw new StackOverflowError("planned");
    }
  }

  @Test
  void cancelledRequestThatCannotBeWithdrawnStartsOneDrain() {
    var template = scope.anonymous().mailbox(MAILBOX).strategy(Strategy.of(activations::add))
        .newActor((Object message) -> handled.add(message));
    var cell = new CancellingCell(template);

    var answer = cell.sendMessageReturn("first");

    assertTrue(answer.isCancelled());
    assertEquals(1, activations.size(), "drains for one right to run");
    cell.sendMessage("second");
    while (!activations.isEmpty()) activations.remove().run();
    assertEquals(List.of("second"), handled);
  }
}
