package io.fibry.flow;

import io.fibry.Actor;
import io.fibry.RequestException;
import io.fibry.block.TimedMessages;
import io.fibry.spi.MultiStepMessage;
import io.fibry.text.Durations;
import io.fibry.time.Scheduler;
import java.time.Duration;

/**
 * The batch that is being gathered. Only the gatherer's actor uses this object, so batches are
 * handed over in order, and each once.
 *
 * <p>If a batch is not full in time, the message of a timer hands it over. A full mailbox drops the
 * message of the timer. In that case the next message in the mailbox finds that the batch is due,
 * and hands it over.
 */
final class PendingBatch<M, B> {
  /**
   * The message of a timer, for one batch. Another batch may be open when the message arrives. This
   * is a {@code MultiStepMessage} without steps, so it does not count as a handled message.
   */
  record BatchExpiry(PendingBatch<?, ?> pendingBatch, Object batch) implements MultiStepMessage {
    void handle() {
      if (pendingBatch.batch == batch) pendingBatch.tryHandOver();
    }

    @Override
    public Object currentStep() {
      return this;
    }

    @Override
    public long completedSteps() {
      return 0;
    }

    @Override
    public String toString() {
      return "the end of the wait for a batch (a message of the library)";
    }
  }

  private final BatchKind<M, B> kind;
  private final int size;
  private final Duration wait;
  private final Scheduler clock;
  private final Actor<Object> writer;
  private Actor<Object> gatherer;
  private B batch; // the open batch; null if no batch is open
  private int messageCount;
  private long dueTime; // time of the clock, in ns
  private Scheduler.Timer timer;

  PendingBatch(BatchKind<M, B> kind, int size, Duration wait, Scheduler clock, Actor<Object> writer) {
    this.kind = kind;
    this.size = size;
    this.wait = wait;
    this.clock = clock;
    this.writer = writer;
  }

  /** Adds a message. If this method throws, the message is in no batch. */
  void add(M message, Actor<Object> gatherer) {
    this.gatherer = gatherer;
    if (batch != null && (messageCount >= size || clock.nanoTime() - dueTime >= 0)) handOverOrRetry();
    var target = batch != null ? batch : kind.newBatch().get();
    kind.add().accept(target, message);
    if (batch == null) begin(target);
    if (++messageCount >= size) tryHandOver();
  }

  private void begin(B newBatch) {
    dueTime = clock.nanoTime() + Durations.nanos(wait);
    timer = TimedMessages.sendAt(gatherer, null, new BatchExpiry(this, newBatch), dueTime);
    batch = newBatch;
  }

  /** Hands the batch over, or sets the timer again. The current message does not fail. */
  private void tryHandOver() {
    try {
      handOverOrRetry();
    } catch (RequestException cycle) {
      // the timer is set
    }
  }

  /**
   * Hands the batch over. If the batch handler waits for the gatherer, a wait for capacity would be
   * a cycle, so this method throws. The timer then tries again after {@code wait}.
   */
  private void handOverOrRetry() {
    boolean isHandedOver = false;
    try {
      handOver();
      isHandedOver = true;
    } finally {
      if (!isHandedOver) timer = gatherer.sendMessageLater(new BatchExpiry(this, batch), wait);
    }
  }

  /**
   * Hands the batch over to the writer. Waits while another batch is in the writer's mailbox. A
   * batch that the writer refuses is a dead letter.
   */
  private void handOver() {
    // first, because the timer's message would take capacity in the gatherer's mailbox while this
    // thread waits for the writer
    timer.cancel();
    writer.sendMessage(kind.seal().apply(batch));
    batch = null;
    messageCount = 0;
  }

  /** Called when the gatherer ends, and before it restarts. */
  void handOverLast() {
    if (batch == null) return;
    try {
      handOver();
    } catch (RequestException cycle) {
      // an interrupted sender does not wait: if the mailbox of the writer is full, the batch
      // becomes a dead letter
      Thread.currentThread().interrupt();
      handOver();
      Thread.interrupted();
    }
  }
}
