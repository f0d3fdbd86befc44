package io.fibry.engine.actor;

import io.fibry.engine.jvm.Threads;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Envelope;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;

/** A message that is sent later, once or again and again. */
public final class TimedMessage implements Scheduler.Timer, Runnable {
  private static final AtomicLong NUMBERS = new AtomicLong();

  private final long number = NUMBERS.incrementAndGet(); // later ones have greater ones
  private final ActorCell cell;
  private final Object key;
  private final Object message;
  private final boolean repeats;
  private final Object[] captured; // on the thread that started it; null: nothing
  private volatile Scheduler.Timer timer; // written at the start, read by whoever cancels
  private final Duration time; // until it, and between two
  // when it is, by its clock; written at the start and by the scheduler's thread
  private volatile long due;
  private volatile boolean ran; // false -> true, by the run of one that does not repeat
  private Envelope last; // the one before, while it may still wait; the scheduler's thread only

  private TimedMessage(ActorCell cell, Object key, Object message, Duration time, boolean repeats) {
    this.cell = cell;
    this.time = Objects.requireNonNull(time, repeats ? "period" : "delay");
    this.key = key == null ? this : key;
    this.message = message;
    this.repeats = repeats;
    this.captured = Baggage.captured(cell);
  }

  /** Starts one. Where the actor has ended, the message is a dead letter at once. */
  public static Scheduler.Timer start(ActorCell cell, Object key, Object message, Duration time, boolean repeats) {
    var alarm = new TimedMessage(cell, key, message, time, repeats);
    var extras = cell.rich();
    if (!extras.isOver()) {
      alarm.start(); // one that cannot start throws, and the one before stays
      if (extras.keep(alarm.key, alarm) || !alarm.timer.cancel()) return alarm;
    }
    alarm.timer = () -> false;
    cell.send(new Envelope(message, Baggage.of(alarm.captured)), Deadline.NO_WAIT);
    return alarm;
  }

  private void start() {
    var clock = cell.scope().options().scheduler;
    due = clock.nanoTime() + Deadline.nanos(time);
    timer = repeats ? clock.atFixedRate(time, time, this) : clock.after(time, this);
  }

  /**
   * On the scheduler's thread: only sends. Where sending would run code of the user, it is done on
   * a virtual thread. It counts as due until it has: nobody shall believe his scope quiet before.
   */
  @Override
  public void run() {
    if (last != null && last.message != null) {
      done();
      return;
    }
    var envelope = new Envelope(message, Baggage.of(captured));
    if (repeats) last = envelope;
    if (cell.scope().options().scheduler != Scheduler.system() || onlyQueues()) send(envelope);
    else Threads.FIBER.activate(() -> send(envelope));
  }

  private void done() {
    if (!repeats) {
      ran = true;
      cell.rich().drop(key, this);
    } else due = cell.scope().options().scheduler.nanoTime() + Deadline.nanos(time);
    // about: it is asked for nothing exact
  }

  /** Whether the other was asked for before this one. */
  public boolean isAfter(TimedMessage other) {
    return number > other.number;
  }

  /** Whether it will not run again. */
  public boolean hasRun() {
    return ran;
  }

  /** Whether its message should be on its way. */
  public boolean isDue(long now) {
    return now - due >= 0;
  }

  /** Whether sending runs no code of the user: no strategy, no order, no dead-letter listener. */
  private boolean onlyQueues() {
    return cell.behaviour.how.strategy() instanceof Threads && !(cell instanceof GuardedCell)
        && cell.phase <= ActorCell.OPEN;
  }

  private void send(Envelope envelope) {
    try {
      cell.send(envelope, Deadline.NO_WAIT);
    } catch (Throwable failure) {
      envelope.message = null; // it does not wait: the next one may come
      throw failure;
    } finally {
      done();
    }
  }

  @Override
  public boolean cancel() {
    cell.rich().drop(key, this);
    var due = timer;
    return due != null && due.cancel();
  }
}
