package io.fibry.flow;

import io.fibry.Actor;
import io.fibry.RequestException;
import io.fibry.block.TimedMessages;
import io.fibry.spi.MultiStepMessage;
import io.fibry.text.Durations;
import io.fibry.time.Scheduler;
import java.time.Duration;

/**
 * The batch being gathered. Only the gatherer uses it, so batches come in order, and each once.
 *
 * <p>A timer's message hands over a batch that does not fill up. A full mailbox drops it, but then
 * the first message of that mailbox finds the batch due.
 */
final class PendingBatch<M, B> {
  /**
   * A timer's message, for one batch: another may be open when it comes. Counts no steps, so that
   * it does not count as a message of the user.
   */
  record BatchExpiry(PendingBatch<?, ?> open, Object batch) implements MultiStepMessage {
    void handle() {
      if (open.batch == batch) open.tryHandOver();
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
  private B batch;
  private int count;
  private long due;
  private Scheduler.Timer timer;

  PendingBatch(BatchKind<M, B> kind, int size, Duration wait, Scheduler clock, Actor<Object> writer) {
    this.kind = kind;
    this.size = size;
    this.wait = wait;
    this.clock = clock;
    this.writer = writer;
  }

  /** A message for which this throws is in no batch. */
  void add(M message, Actor<Object> gatherer) {
    this.gatherer = gatherer;
    if (batch != null && (count >= size || clock.nanoTime() - due >= 0)) handOver();
    var into = batch != null ? batch : kind.empty().get();
    kind.add().accept(into, message);
    if (batch == null) begin(into);
    if (++count >= size) tryHandOver();
  }

  private void begin(B first) {
    due = clock.nanoTime() + Durations.nanos(wait);
    timer = TimedMessages.sendAt(gatherer, null, new BatchExpiry(this, first), due);
    batch = first;
  }

  /**
   * Tries again later if the writer waits for the gatherer, because neither of them could continue.
   * The message at hand has not failed.
   */
  private void tryHandOver() {
    try {
      handOver();
    } catch (RequestException ring) {
      timer = gatherer.sendMessageLater(new BatchExpiry(this, batch), wait);
    }
  }

  /** Waits while another batch waits. A batch the writer does not take is a dead letter. */
  private void handOver() {
    timer.cancel();
    writer.sendMessage(kind.seal().apply(batch));
    batch = null;
    count = 0;
  }

  /** At the end, and before a restart. */
  void handOverLast() {
    if (batch == null) return;
    try {
      handOver();
    } catch (RequestException ring) {
      // an interrupted sender does not wait, and its message is a dead letter
      Thread.currentThread().interrupt();
      handOver();
      Thread.interrupted();
    }
  }
}
