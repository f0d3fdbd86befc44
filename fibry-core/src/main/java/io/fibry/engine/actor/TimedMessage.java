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

/** A message sent later, once or repeatedly. */
public final class TimedMessage extends AttachedTimer implements Runnable {
  private static final AtomicLong NUMBERS = new AtomicLong();

  static {
    new SendTask(null, null); // loads its class while there is memory
  }

  private final long number; // grows; of one with a key
  private final Cell cell;
  private final Object message;
  private final long period; // nanoseconds; 0 for a message that is sent once
  private final Object[] capturedContext; // captured when the timer starts; null if there are no carriers
  private volatile Scheduler.Timer timer; // written at the start, read to cancel
  private volatile long due; // written at the start and by the scheduler's thread
  private volatile boolean ran; // false -> true, unless it repeats
  private Envelope last; // the one before; the scheduler's thread only

  private TimedMessage(Cell cell, Object key, Object message, long due, long period) {
    super(key);
    this.number = key == null ? 0 : NUMBERS.incrementAndGet();
    this.cell = cell;
    this.message = Objects.requireNonNull(message, "message");
    this.due = due;
    this.period = period;
    this.capturedContext = cell.captureContext(message);
  }

  /** Here, since a user's scheduler may not look, and one is not asked when the actor has ended. */
  private static Duration checked(Duration time, boolean repeats) {
    if (Objects.requireNonNull(time, repeats ? "period" : "delay").isNegative() || repeats && time.isZero())
      throw new IllegalArgumentException(
          repeats ? "a period of " + Durations.text(time) + " never ends; give more than zero"
              : "a delay of " + Durations.text(time) + " lies in the past; give zero or more");
    return time;
  }

  static Scheduler.Timer start(Cell cell, Object key, Object message, Duration time, boolean repeats) {
    long nanos = Deadline.nanos(checked(time, repeats));
    long due = cell.owner().options().scheduler().nanoTime() + nanos;
    return start(new TimedMessage(cell, key, message, due, repeats ? nanos : 0), nanos == 0);
  }

  /** Sends the message once, at a time by the actor's clock. */
  public static Scheduler.Timer start(Actor<?> actor, Object key, Object message, long due) {
    return start(new TimedMessage((Cell) actor, key, message, due, 0), false);
  }

  /**
   * If the actor has ended, the message is a dead letter.
   *
   * @param undelayed a manual clock sends the message at its next move, not here
   */
  private static Scheduler.Timer start(TimedMessage timed, boolean undelayed) {
    var cell = timed.cell;
    var key = timed.key;
    if (key != null) key.hashCode(); // if it throws, no timer is set
    var extras = cell.extras();
    if (!extras.isOver()) {
      timed.start(undelayed); // if it throws, the former timer stays
      if (extras.addTimer(timed) || !timed.timer.cancel()) return timed;
    }
    timed.timer = () -> false;
    cell.send(new Envelope(timed.message, Baggage.of(timed.capturedContext)), Deadline.NO_WAIT);
    return timed;
  }

  private boolean repeats() {
    return period > 0;
  }

  private Scheduler clock() {
    return cell.owner().options().scheduler();
  }

  private void start(boolean undelayed) {
    if (repeats()) timer = clock().scheduleAtFixedRate(Duration.ofNanos(period), Duration.ofNanos(period), this);
    else timer = undelayed ? clock().schedule(Duration.ZERO, this) : clock().scheduleAt(due, this);
  }

  /** Due until its message is sent, or its scope would seem quiet. */
  @Override
  public void run() {
    if (last != null && last.message != null) {
      done();
      return;
    }
    var envelope = new Envelope(message, Baggage.of(capturedContext));
    if (repeats()) last = envelope;
    if (clock() == Scheduler.system()) cell.sendFromTimer(new SendTask(this, envelope));
    else send(envelope);
  }

  /** No lambda: see Dispatch. */
  private record SendTask(TimedMessage timed, Envelope envelope) implements Runnable {
    @Override
    public void run() {
      timed.send(envelope);
    }
  }

  private void send(Envelope envelope) {
    try {
      cell.send(envelope, Deadline.NO_WAIT);
    } finally {
      done();
    }
  }

  private void done() {
    if (!repeats()) {
      ran = true;
      cell.extras().removeTimer(this);
    } else due = clock().nanoTime() + period; // an estimate
  }

  @Override
  protected boolean isAfter(AttachedTimer other) {
    return other instanceof TimedMessage one && number > one.number;
  }

  @Override
  protected boolean hasRun() {
    return ran;
  }

  @Override
  protected boolean isDue(long now) {
    return now - due >= 0;
  }

  /**
   * A timer with a key replaces an earlier timer of the actor, and a periodic timer has no last
   * message.
   */
  @Override
  protected Optional<Object> end() {
    return cancel() && !repeats() && key == null ? Optional.of(message) : Optional.empty();
  }

  @Override
  public boolean cancel() {
    cell.extras().removeTimer(this);
    var running = timer;
    return running != null && running.cancel();
  }
}
