package io.fibry.engine.actor;

import io.fibry.Actor;
import io.fibry.DeadLetter.Reason;
import io.fibry.engine.cell.AttachedTimer;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.cell.DeadLetters;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.timer.TimerQueue;
import io.fibry.engine.world.Environment;
import io.fibry.text.Durations;
import io.fibry.text.SafeLogger;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * A message that is sent later. One object for the message, its place among the actor's timers, and
 * its node in the queue of the system's scheduler, because a program may have millions of timers.
 * On another clock, it is the task of a timer of that clock.
 */
public class TimedMessage extends AttachedTimer implements Runnable {
  // The next three are null after a cancel in the queue, which may keep this object for longer, and
  // after the only message was sent. Cleared by the thread that has cancelled the timer, or by the
  // sending thread
  private Cell cell;
  private Object message;
  // captured when the timer starts; null if the actor has no context propagators
  private Object[] capturedContext;
  // the timer of another clock; written when the timer starts, read to cancel it. Null if this
  // object is in the queue of the system's scheduler
  private volatile Scheduler.Timer timer;

  TimedMessage(Cell cell, Object message, long dueNanos) {
    super(dueNanos);
    this.cell = cell;
    this.message = Objects.requireNonNull(message, "message");
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
    var timedMessage = key == null && !isPeriodic ? new TimedMessage(cell, message, dueNanos)
        : new ReplaceableMessage(cell, key, message, dueNanos, isPeriodic ? nanos : 0);
    return start(cell, timedMessage, nanos == 0);
  }

  /** Sends the message once, at {@code dueNanos} by the clock of the actor's scope. */
  public static Scheduler.Timer start(Actor<?> actor, Object key, Object message, long dueNanos) {
    var cell = (Cell) actor;
    return start(cell, key == null ? new TimedMessage(cell, message, dueNanos)
        : new ReplaceableMessage(cell, key, message, dueNanos, 0), false);
  }

  /**
   * Starts the timer. If the actor has ended, the message becomes a dead letter.
   *
   * @param isUndelayed whether the delay is zero: a manual clock then sends the message when it is
   *     next moved, not in this call
   */
  private static Scheduler.Timer start(Cell cell, TimedMessage timedMessage, boolean isUndelayed) {
    var key = timedMessage.key();
    if (key != null) key.hashCode(); // if this throws, no timer is set
    var message = timedMessage.message;
    var capturedContext = timedMessage.capturedContext;
    var extras = cell.extras();
    if (!extras.hasEndBegun()) {
      timedMessage.start(cell.owner().options().scheduler(), isUndelayed); // if this throws, an earlier timer stays
      if (extras.addTimer(timedMessage) || !timedMessage.cancelTimer()) return timedMessage;
    }
    timedMessage.close();
    cell.send(new Envelope(message, Baggage.of(capturedContext)), Deadline.NO_WAIT);
    return timedMessage;
  }

  private void start(Scheduler clock, boolean isUndelayed) {
    if (clock == Scheduler.system() && Environment.simulated == null && !isPeriodic()) TimerQueue.SYSTEM.start(this);
    else timer = startOn(clock, isUndelayed);
  }

  Scheduler.Timer startOn(Scheduler clock, boolean isUndelayed) {
    return isUndelayed ? clock.schedule(Duration.ZERO, this) : clock.scheduleAt(dueAt, this);
  }

  boolean isPeriodic() {
    return false;
  }

  final Scheduler clock() {
    return cell.owner().options().scheduler();
  }

  @Override
  protected final void fire() {
    if (!close()) return;
    try {
      run();
    } catch (Throwable failure) {
      SafeLogger.of(Scheduler.class).error("a timer's task failed", failure);
    }
  }

  /**
   * Sends the message. The timer counts as due until the send has returned. Otherwise {@code
   * awaitQuiescence} of the scope could return before the message is sent.
   */
  @Override
  public void run() {
    if (cell != null) send(); // null if a user's clock runs the timer twice
  }

  /**
   * Sends the message, and returns its envelope. If memory is exhausted before the send begins, the
   * message becomes a dead letter.
   */
  final Envelope send() {
    SendTask task = null;
    try {
      task = new SendTask(this, new Envelope(message, Baggage.of(capturedContext)));
      if (clock() == Scheduler.system()) cell.sendFromTimer(task);
      else task.run();
      return task.envelope;
    } catch (Throwable failure) {
      if (task == null || !task.hasBegun) onUnsent(failure);
      throw failure;
    }
  }

  private void onUnsent(Throwable failure) {
    try {
      DeadLetters.addOffThread(cell, message, Reason.UNDELIVERED, failure);
    } finally { // otherwise the timer would count as due forever
      afterRun();
    }
  }

  /**
   * A class, not a lambda: if memory runs out while the JVM links a lambda for the first time, that
   * lambda may fail forever.
   */
  private static final class SendTask implements Runnable {
    private final TimedMessage timedMessage;
    private final Envelope envelope;
    // written by the sending thread; read by the timer's thread if it sends the message, or if no
    // other thread will
    private boolean hasBegun;

    SendTask(TimedMessage timedMessage, Envelope envelope) {
      this.timedMessage = timedMessage;
      this.envelope = envelope;
    }

    @Override
    public void run() {
      hasBegun = true;
      timedMessage.sendNow(envelope);
    }
  }

  private void sendNow(Envelope envelope) {
    try {
      cell.send(envelope, Deadline.NO_WAIT);
    } finally {
      afterRun();
    }
  }

  void afterRun() {
    var owner = cell;
    clear();
    owner.extras().removeTimer(this);
  }

  private void clear() {
    cell = null;
    message = null;
    capturedContext = null;
  }

  /** Called after a cancel in the queue, when the actor no longer has this timer. */
  void clearKey() {}

  @Override
  protected boolean isAfter(AttachedTimer other) {
    return false;
  }

  @Override
  protected boolean isDue(long now) {
    return now - dueAt >= 0;
  }

  @Override
  protected Optional<Object> cancelAtEnd() {
    var unsentMessage = message;
    return cancel() ? Optional.ofNullable(unsentMessage) : Optional.empty();
  }

  @Override
  public final boolean cancel() {
    var owner = cell;
    if (owner == null) return false;
    owner.extras().removeTimer(this);
    return cancelTimer();
  }

  private boolean cancelTimer() {
    var startedTimer = timer;
    if (startedTimer != null) return startedTimer.cancel();
    if (!cancelIn(TimerQueue.SYSTEM)) return false;
    clear();
    clearKey();
    return true;
  }
}
