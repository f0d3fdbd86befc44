package io.fibry.stereotype;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.Exitable;
import io.fibry.Handler;
import io.fibry.block.Arguments;
import io.fibry.block.TimedMessages;
import io.fibry.mailbox.Mailbox;
import io.fibry.spi.BlockBuilder;
import io.fibry.text.Durations;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Objects;

/**
 * A task that an actor runs again and again. It sends itself a message for the next run after each
 * run; therefore runs never pile up. Used by the actor's handler only.
 */
final class Schedule {
  private record ScheduledRun(long number) {
    @Override
    public String toString() {
      return "run " + number;
    }
  }

  private final Scheduler clock;
  private final boolean fixedRate;
  private final long time; // the period, or the delay
  private final Handler<Exitable> task;
  private long due; // the next run at a fixed rate
  private long number; // of the run that `due` was set after

  private Schedule(Scheduler clock, long initial, boolean fixedRate, long time, Handler<Exitable> task) {
    this.clock = clock;
    this.fixedRate = fixedRate;
    this.time = time;
    this.task = task;
    this.due = clock.nanoTime() + initial;
  }

  static Exitable atFixedRate(ActorBuilder<?> how, Duration initial, Duration period, Handler<Exitable> task) {
    Arguments.requirePositive(period, "period", "a period of " + Durations.text(period) + " never ends");
    return start(how, initial, true, period, task);
  }

  static Exitable withFixedDelay(ActorBuilder<?> how, Duration initial, Duration delay, Handler<Exitable> task) {
    Arguments.requirePositive(delay, "delay",
        "a delay of " + Durations.text(delay) + " between two runs leaves no time for anything else");
    return start(how, initial, false, delay, task);
  }

  @SuppressWarnings("unchecked") // erased
  private static Exitable start(ActorBuilder<?> how, Duration initial, boolean fixedRate, Duration time,
      Handler<Exitable> task) {
    Objects.requireNonNull(task, "task");
    if (Objects.requireNonNull(initial, "initial").isNegative())
      throw new IllegalArgumentException(
          "an initial delay of " + Durations.text(initial) + " lies in the past; give zero or more");
    var schedule =
        new Schedule(BlockBuilder.of(how).scheduler(), Durations.nanos(initial), fixedRate, Durations.nanos(time),
            task);
    Actor<ScheduledRun> actor = ((ActorBuilder<Object>) how).mailbox(Mailbox.unbounded())
        .newActor((run, context) -> schedule.run(run, context.self()));
    TimedMessages.sendAt(actor, schedule, new ScheduledRun(1), schedule.due);
    return actor;
  }

  private void run(ScheduledRun run, Actor<ScheduledRun> self) throws Exception {
    try {
      task.handle(self);
    } finally {
      // with the same key, since the policy may retry this run
      if (!self.onExit().isDone()) TimedMessages.sendAt(self, this, new ScheduledRun(run.number() + 1), next(run));
    }
  }

  /** Periods that have passed meanwhile make one late run. */
  private long next(ScheduledRun run) {
    long now = clock.nanoTime();
    if (!fixedRate) return now + time;
    if (number < run.number()) due += time;
    number = run.number();
    if (now - due > 0) due += (now - due) / time * time;
    return due;
  }
}
