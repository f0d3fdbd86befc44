package io.fibry.stereotype;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.Exitable;
import io.fibry.Handler;
import io.fibry.mailbox.Mailbox;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Objects;

/**
 * A task that comes again and again, as messages that an actor sends itself later: each after the
 * run before it, so that they never pile up. Belongs to the actor's thread.
 */
final class Schedule {
  private static final long LONGEST = Long.MAX_VALUE / 4; // the sum of two is no overflow

  /** The message that makes it run. */
  private record Run(long number) {
    @Override
    public String toString() {
      return "run " + number;
    }
  }

  private final Scheduler clock;
  private final boolean rhythm; // whether the time goes from beginning to beginning
  private final long time; // from a beginning to the next, or from an end
  private final Handler<Exitable> task;
  private long due; // when the next run is, by its rhythm
  private long number; // of the run that this was told after

  private Schedule(Scheduler clock, long initial, boolean rhythm, long time, Handler<Exitable> task) {
    this.clock = clock;
    this.rhythm = rhythm;
    this.time = time;
    this.task = task;
    this.due = clock.nanoTime() + initial;
  }

  static Exitable atFixedRate(ActorBuilder<?> how, Duration initial, Duration period, Handler<Exitable> task) {
    if (!Objects.requireNonNull(period, "period").isPositive())
      throw new IllegalArgumentException("a period of " + period + " never ends; give more than zero");
    return start(how, initial, true, period, task);
  }

  static Exitable withFixedDelay(ActorBuilder<?> how, Duration initial, Duration delay, Handler<Exitable> task) {
    if (!Objects.requireNonNull(delay, "delay").isPositive()) throw new IllegalArgumentException(
        "a delay of " + delay + " between two runs leaves no time for anything else; give more than zero");
    return start(how, initial, false, delay, task);
  }

  @SuppressWarnings("unchecked") // what a builder may take is told to the compiler alone
  private static Exitable start(ActorBuilder<?> how, Duration initial, boolean rhythm, Duration time,
      Handler<Exitable> task) {
    Objects.requireNonNull(task, "task");
    if (Objects.requireNonNull(initial, "initial").isNegative())
      throw new IllegalArgumentException("an initial delay of " + initial + " lies in the past; give zero or more");
    var schedule = new Schedule(how.scheduler(), nanos(initial), rhythm, nanos(time), task);
    Actor<Run> actor = ((ActorBuilder<Object>) how).mailbox(Mailbox.unbounded())
        .newActor((run, context) -> schedule.run(run, context.self()));
    // without a key: it may have run before this returns, and set the next one
    actor.sendMessageLater(new Run(1), initial);
    return actor;
  }

  private void run(Run run, Actor<Run> self) throws Exception {
    try {
      task.handle(self);
    } finally {
      // with a key: the policy may let this run try again
      if (!self.onExit().isDone())
        self.sendMessageLater(this, new Run(run.number() + 1), Duration.ofNanos(rhythm ? untilNext(run) : time));
    }
  }

  /** A run whose time came and went meanwhile is late, not lost; of several, one. */
  private long untilNext(Run run) {
    long now = clock.nanoTime();
    if (number < run.number()) due += time;
    number = run.number();
    if (now - due > 0) due += (now - due) / time * time;
    return Math.max(0, due - now);
  }

  private static long nanos(Duration time) {
    return time.compareTo(Duration.ofNanos(LONGEST)) < 0 ? time.toNanos() : LONGEST;
  }
}
