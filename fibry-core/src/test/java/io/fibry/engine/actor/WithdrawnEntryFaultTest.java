package io.fibry.engine.actor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter.Reason;
import io.fibry.Strategy;
import io.fibry.engine.cell.ActorInternals;
import io.fibry.engine.jvm.StackProbe;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.queue.GuardedQueue;
import io.fibry.engine.queue.QueueEntry;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests a sender whose stack is too small to start an idle actor. At the same time another thread
 * cancels or takes the entry of this sender. The sender then cannot withdraw the entry, and must
 * give up the right to run.
 */
class WithdrawnEntryFaultTest {
  private static final Mailbox<Object> MAILBOX = Mailbox.bounded(2, Overflow.BLOCK);

  private static final Object FIRST = "first";
  private static final Object SECOND = "second";
  private static final Object OTHER = "other";
  private static final int MAX_DISTANCE = 400; // more than the frames that the probe of an activation covers

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
        /**
         * Adds the entry and gives the sender the right to run, as if the actor had just become
         * idle.
         */
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
  void cancelledRequestThatCannotBeWithdrawnLeavesActorIdle() {
    var template = scope.anonymous().mailbox(MAILBOX).strategy(Strategy.of(activations::add))
        .newActor((Object message) -> handled.add(message));
    var cell = new CancellingCell(template);

    var answer = cell.sendMessageReturn(FIRST);

    assertTrue(answer.isCancelled());
    assertTrue(activations.isEmpty(), "drains, although no message waits");
    cell.sendMessage(SECOND);
    assertEquals(1, activations.size(), "drains for one right to run");
    while (!activations.isEmpty()) activations.remove().run();
    assertEquals(List.of(SECOND), handled);
  }

  /**
   * An actor whose first message is taken by another thread, as an earlier drain would take it.
   * This happens before the sender probes its stack for the activation. The other thread then also
   * sends a message.
   */
  private static final class OvertakenCell extends GuardedCell {
    private static final long STACK_BYTES = 200_000;

    private final GuardedQueue<Object> queue;
    private int sendDistance; // how many calls fit on the stack below the sending call; -1 after the first send
    private volatile boolean mayTake;
    private volatile boolean isTaken;
    private volatile boolean isOver; // true when the sender has ended, perhaps before it probed its stack
    private boolean isProbeFailed;
    private int acceptedCount; // does not count the first message

    private OvertakenCell(Object template, GuardedQueue<Object> queue, int sendDistance) {
      super(ActorInternals.behavior(template), queue);
      this.queue = queue;
      this.sendDistance = sendDistance;
    }

    static OvertakenCell of(Object template, int sendDistance) {
      return new OvertakenCell(template, new GuardedQueue<>(MAILBOX, System::nanoTime,
          (message, baggage) -> new Envelope(message, (Baggage) baggage)) {
        private boolean isFirst = true;

        /**
         * Adds the first entry and gives its sender the right to run, as if the actor had just
         * become idle.
         */
        @Override
        public EnterResult enter(QueueEntry<Object> entry, boolean mayWait) {
          if (!isFirst) return super.enter(entry, mayWait);
          isFirst = false;
          return offer(entry, mayWait);
        }
      }, sendDistance);
    }

    void sendOnSmallStack() throws InterruptedException {
      var other = Thread.ofPlatform().start(this::takeAndSend);
      var sender = new Thread(null, this::descend, "sender", STACK_BYTES);
      sender.start();
      sender.join();
      isOver = true;
      other.join();
    }

    private void takeAndSend() {
      while (!mayTake && !isOver) Thread.onSpinWait();
      if (!mayTake) return;
      queue.poll();
      if (sendMessage(OTHER)) acceptedCount++;
      isTaken = true;
    }

    /**
     * Recurses until the stack overflows, and sends at one depth on the way back. Returns how many
     * calls below this call did not overflow the stack.
     */
    private int descend() {
      int distance = 0;
      try {
        distance = descend() + 1;
      } catch (StackOverflowError expected) {} // thrown by the recursive call or by a send
      if (distance == sendDistance) sendTwo();
      return distance;
    }

    private void sendTwo() {
      sendDistance = -1;
      sendMessage(FIRST);
      if (sendMessage(SECOND)) acceptedCount++;
    }

    /**
     * Probes the stack as {@code GuardedQueue.enter} does, and then uses a part of the probed
     * stack.
     */
    @Override
    protected Reason offer(Object message, Baggage baggage) {
      StackProbe.probe();
      return offerBelow(10, message, baggage);
    }

    private Reason offerBelow(int calls, Object message, Baggage baggage) {
      return calls == 0 ? super.offer(message, baggage) : offerBelow(calls - 1, message, baggage);
    }

    @Override
    void probeStack() {
      mayTake = true;
      while (!isTaken) Thread.onSpinWait();
      isProbeFailed = true;
      super.probeStack();
      isProbeFailed = false;
    }
  }

  @Promise("3.1")
  @Test
  void acceptedMessageIsHandledIfItsSenderCannotStartActor() throws InterruptedException {
    var template = scope.anonymous().mailbox(MAILBOX).newActor((Object message) -> {});
    int failedProbes = 0;
    // begins with the largest distance, because the first sends load classes and need more stack
    for (int sendDistance = MAX_DISTANCE; sendDistance > 0; sendDistance--) {
      var cell = OvertakenCell.of(template, sendDistance);
      cell.sendOnSmallStack();
      if (cell.acceptedCount > 0 && cell.isProbeFailed) failedProbes++;
      Patience.eventually(() -> cell.handled() == cell.acceptedCount);
    }

    assertTrue(failedProbes > 0, "senders without stack for an activation");
  }
}
