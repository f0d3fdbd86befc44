package io.fibry.flow;

import io.fibry.Actor;
import io.fibry.RequestException;
import io.fibry.time.Scheduler;
import java.time.Duration;

/**
 * The batch that is being gathered. Belongs to the actor that gathers, which alone hands batches
 * over: so they come in order, and each once.
 *
 * <p>One that does not get full is handed over when the message of a timer comes. A full mailbox
 * drops that message; but then others wait, and the first of them finds that the time is over.
 */
final class OpenBatch<M, B> {
  private static final long LONGEST = Long.MAX_VALUE / 2;

  /**
   * The message of a timer. It says whose time is over: a batch that was handed over meanwhile is
   * not the one at hand.
   */
  record Over(OpenBatch<?, ?> by, Object batch) {
    void heed() {
      if (by.batch == batch) by.tryHandOver();
    }

    @Override
    public String toString() {
      return "the time of a batch is over (no message of yours)";
    }
  }

  private final BatchKind<M, B> form;
  private final int size;
  private final Duration wait;
  private final Scheduler clock;
  private final Actor<Object> writer;
  private Actor<Object> self; // who gathers
  private B batch; // null: empty
  private int count; // of the messages in it
  private long due; // when its time is over
  private Scheduler.Timer timer; // that says so

  OpenBatch(BatchKind<M, B> form, int size, Duration wait, Scheduler clock, Actor<Object> writer) {
    this.form = form;
    this.size = size;
    this.wait = wait;
    this.clock = clock;
    this.writer = writer;
  }

  /** Takes a message in. Where it throws, the message has failed, and is in no batch. */
  void take(M message, Actor<Object> gatherer) {
    self = gatherer;
    if (batch != null && (count >= size || clock.nanoTime() - due >= 0)) handOver();
    var into = batch != null ? batch : form.empty().get();
    form.add().accept(into, message);
    if (batch == null) begin(into);
    if (++count >= size) tryHandOver();
  }

  private void begin(B first) {
    due = clock.nanoTime() + (wait.compareTo(Duration.ofNanos(LONGEST)) < 0 ? wait.toNanos() : LONGEST);
    timer = self.sendMessageLater(new Over(this, first), wait);
    batch = first;
  }

  /**
   * Where the writer waits for us, this comes to nothing, or neither could go on; then it is tried
   * again. The message at hand is in the batch, and has not failed.
   */
  private void tryHandOver() {
    try {
      handOver();
    } catch (RequestException ring) {
      timer = self.sendMessageLater(new Over(this, batch), wait);
    }
  }

  /**
   * Waits while the writer is busy and another batch waits. What he does not take is a dead letter.
   */
  private void handOver() {
    timer.cancel();
    writer.sendMessage(form.sealed().apply(batch));
    batch = null;
    count = 0;
  }

  /** Hands over what there is: at the end, and before a restart. */
  void handOverLast() {
    if (batch == null) return;
    try {
      handOver();
    } catch (RequestException ring) {
      // who is interrupted does not wait, and what he sends is a dead letter
      Thread.currentThread().interrupt();
      handOver();
      Thread.interrupted();
    }
  }
}
