package io.fibry.engine.actor;

import io.fibry.Actor;
import io.fibry.engine.cell.AttachedTimer;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Envelope;
import io.fibry.text.Durations;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/** A message that is sent later, once or periodically. */
public final class TimedMessage extends AttachedTimer implements Runnable {
  private static final AtomicLong LAST_NUMBER = new AtomicLong();

  private final long number; // the order in which timers with a key were set; 0 without a key
  private final Cell cell;
  private final Object message;
  private final long period; // nanoseconds; 0 for a message that is sent once
  // captured when the timer starts; null if the actor has no context propagators
  private final Object[] capturedContext;
  private volatile Scheduler.Timer timer; // written when the timer starts, read to cancel it
  // due time by the scope's clock; written by the starting thread, then by the scheduler
  private volatile long dueNanos;
  private volatile boolean isSent; // false -> true after the send; stays false if the message is periodic
  private Envelope previousEnvelope; // the previous envelope of a periodic message; the scheduler's thread only

  private TimedMessage(Cell cell, Object key, Object message, long dueNanos, long period) {
    super(key);
    this.number = key == null ? 0 : LAST_NUMBER.incrementAndGet();
    this.cell = cell;
    this.message = Objects.requireNonNull(message, "message");
    this.dueNanos = dueNanos;
    this.period = period;
    this.capturedContext = cell.captureContext(message);
  }

  /**
   * Throws if the delay is negative, or the period not positive. Checked here, because a user's
   * scheduler might not check the duration, and no scheduler is called if the actor has ended.
   */
  private static Duration checked(Duration time, boolean isPeriodic) {
    if (!isPeriodic) return Durations.requireNotNegative(time, "delay", "a delay");
    if (!Objects.requireNonNull(time, "period").isPositive())
      throw new IllegalArgumentException(
          "a period of " + Durations.text(time) + " is not positive; give more than zero");
    return time;
  }

  static Scheduler.Timer start(Cell cell, Object key, Object message, Duration delayOrPeriod, boolean isPeriodic) {
    long nanos = Deadline.nanos(checked(delayOrPeriod, isPeriodic));
    long dueNanos = cell.owner().options().scheduler().nanoTime() + nanos;
    return start(new TimedMessage(cell, key, message, dueNanos, isPeriodic ? nanos : 0), nanos == 0);
  }

  /** Sends the message once, at {@code dueNanos} by the clock of the actor's scope. */
  public static Scheduler.Timer start(Actor<?> actor, Object key, Object message, long dueNanos) {
    return start(new TimedMessage((Cell) actor, key, message, dueNanos, 0), false);
  }

  /**
   * Starts the timer. If the actor has ended, the message becomes a dead letter.
   *
   * @param isUndelayed whether the delay is zero: a manual clock then sends the message when it is
   *     next moved, not in this call
   */
  private static Scheduler.Timer start(TimedMessage timedMessage, boolean isUndelayed) {
    var cell = timedMessage.cell;
    var key = timedMessage.key;
    if (key != null) key.hashCode(); // if this throws, no timer is set
    var extras = cell.extras();
    if (!extras.hasEndBegun()) {
      timedMessage.start(isUndelayed); // if this throws, the earlier timer with this key stays
      if (extras.addTimer(timedMessage) || !timedMessage.timer.cancel()) return timedMessage;
    }
    timedMessage.timer = () -> false;
    cell.send(new Envelope(timedMessage.message, Baggage.of(timedMessage.capturedContext)), Deadline.NO_WAIT);
    return timedMessage;
  }

  private boolean isPeriodic() {
    return period > 0;
  }

  private Scheduler clock() {
    return cell.owner().options().scheduler();
  }

  private void start(boolean isUndelayed) {
    if (isPeriodic()) timer = clock().scheduleAtFixedRate(Duration.ofNanos(period), Duration.ofNanos(period), this);
    else timer = isUndelayed ? clock().schedule(Duration.ZERO, this) : clock().scheduleAt(dueNanos, this);
  }

  /**
   * Sends the message, unless the previous envelope of a periodic message still waits in the
   * mailbox. The timer counts as due until the send has returned. Otherwise {@code awaitQuiescence}
   * of the scope could return before the message is sent.
   */
  @Override
  public void run() {
    if (previousEnvelope != null && previousEnvelope.message != null) {
      afterRun();
      return;
    }
    var envelope = new Envelope(message, Baggage.of(capturedContext));
    if (isPeriodic()) previousEnvelope = envelope;
    if (clock() == Scheduler.system()) cell.sendFromTimer(new SendTask(this, envelope));
    else send(envelope);
  }

  /**
   * A record, not a lambda: if memory runs out while the JVM links a lambda for the first time,
   * that lambda may fail forever.
   */
  private record SendTask(TimedMessage timedMessage, Envelope envelope) implements Runnable {
    @Override
    public void run() {
      timedMessage.send(envelope);
    }
  }

  private void send(Envelope envelope) {
    try {
      cell.send(envelope, Deadline.NO_WAIT);
    } finally {
      afterRun();
    }
  }

  private void afterRun() {
    if (!isPeriodic()) {
      isSent = true;
      cell.extras().removeTimer(this);
    } else dueNanos = clock().nanoTime() + period; // estimates when the scheduler calls run() again
  }

  @Override
  protected boolean isAfter(AttachedTimer other) {
    return other instanceof TimedMessage timedMessage && number > timedMessage.number;
  }

  @Override
  protected boolean hasRun() {
    return isSent;
  }

  @Override
  protected boolean isDue(long now) {
    return now - dueNanos >= 0;
  }

  /**
   * Cancels the timer, and returns the message if it will never be sent. Returns an empty result
   * for a periodic message, and for a message with a key, which a later timer could have replaced.
   */
  @Override
  protected Optional<Object> cancelAtEnd() {
    return cancel() && !isPeriodic() && key == null ? Optional.of(message) : Optional.empty();
  }

  @Override
  public boolean cancel() {
    cell.extras().removeTimer(this);
    var startedTimer = timer;
    return startedTimer != null && startedTimer.cancel();
  }
}
