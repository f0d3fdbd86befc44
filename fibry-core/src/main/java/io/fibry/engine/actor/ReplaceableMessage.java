package io.fibry.engine.actor;

import io.fibry.engine.cell.AttachedTimer;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.message.Envelope;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A timed message that has a key, or is periodic. A later timer replaces it, or the next period
 * repeats it, so no user loses a message if it is cancelled at the end of its actor.
 */
final class ReplaceableMessage extends TimedMessage {
  private static final AtomicLong LAST_NUMBER = new AtomicLong();

  // Null if the message is only periodic, and after a cancel in the queue, which may keep this
  // object for longer. Cleared when the actor no longer has this timer
  private Object key;
  private final long number; // the order in which timers with a key were set; 0 without a key
  private final long period; // nanoseconds; 0 for a message that is sent once
  // due time by the scope's clock; written by the starting thread, then by the scheduler
  private volatile long nextDue;
  private Envelope previousEnvelope; // the previous envelope of a periodic message; the scheduler's thread only

  ReplaceableMessage(Cell cell, Object key, Object message, long dueNanos, long period) {
    super(cell, message, dueNanos);
    this.key = key;
    this.number = key == null ? 0 : LAST_NUMBER.incrementAndGet();
    this.period = period;
    this.nextDue = dueNanos;
  }

  @Override
  protected Object key() {
    return key;
  }

  @Override
  void clearKey() {
    key = null;
  }

  @Override
  boolean isPeriodic() {
    return period > 0;
  }

  @Override
  Scheduler.Timer startOn(Scheduler clock, boolean isUndelayed) {
    if (!isPeriodic()) return super.startOn(clock, isUndelayed);
    return clock.scheduleAtFixedRate(Duration.ofNanos(period), Duration.ofNanos(period), this);
  }

  /**
   * Sends the message, unless the previous envelope of a periodic message still waits in the
   * mailbox.
   */
  @Override
  public void run() {
    if (previousEnvelope != null && previousEnvelope.message != null) {
      afterRun();
      return;
    }
    if (isPeriodic()) previousEnvelope = send(); // if this throws, the next run sends again
    else super.run();
  }

  @Override
  void afterRun() {
    if (isPeriodic()) nextDue = clock().nanoTime() + period; // estimates when the scheduler calls run() again
    else super.afterRun();
  }

  @Override
  protected boolean isAfter(AttachedTimer other) {
    return other instanceof ReplaceableMessage otherMessage && number > otherMessage.number;
  }

  @Override
  protected boolean isDue(long now) {
    return now - nextDue >= 0;
  }

  @Override
  protected Optional<Object> cancelAtEnd() {
    cancel();
    return Optional.empty();
  }
}
