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
 * A task that an actor runs again and again. Only after a run does the actor send itself the
 * message for the next run, so runs never pile up. A schedule is used only by the handler of its
 * actor.
 */
final class Schedule {
  private record ScheduledRun(long number) {
    @Override
    public String toString() {
      return "run " + number;
    }
  }

  private final Scheduler clock;
  private final boolean isFixedRate;
  private final long interval; // ns; at a fixed rate the period, otherwise the delay after each run
  private final Handler<Exitable> task;
  private long nextStart; // in ns by the clock; with a fixed delay, set for the first run only
  private long lastNumber; // number of the run after which `nextStart` was set

  private Schedule(Scheduler clock, long initialDelay, boolean isFixedRate, long interval, Handler<Exitable> task) {
    this.clock = clock;
    this.isFixedRate = isFixedRate;
    this.interval = interval;
    this.task = task;
    this.nextStart = clock.nanoTime() + initialDelay;
  }

  static Exitable atFixedRate(ActorBuilder<?> builder, Duration initialDelay, Duration period,
      Handler<Exitable> task) {
    Arguments.requirePositive(period, "period", "a period of " + Durations.text(period) + " is not positive");
    return start(builder, initialDelay, true, period, task);
  }

  static Exitable withFixedDelay(ActorBuilder<?> builder, Duration initialDelay, Duration delay,
      Handler<Exitable> task) {
    Arguments.requirePositive(delay, "delay",
        "a delay of " + Durations.text(delay) + " between two runs leaves no time for anything else");
    return start(builder, initialDelay, false, delay, task);
  }

  @SuppressWarnings("unchecked") // the message type of a builder is erased
  private static Exitable start(ActorBuilder<?> builder, Duration initialDelay, boolean isFixedRate, Duration interval,
      Handler<Exitable> task) {
    Objects.requireNonNull(task, "task");
    Durations.requireNotNegative(initialDelay, "initial", "an initial delay");
    var schedule = new Schedule(BlockBuilder.of(builder).scheduler(), Durations.nanos(initialDelay), isFixedRate,
        Durations.nanos(interval), task);
    Actor<ScheduledRun> actor = ((ActorBuilder<Object>) builder).mailbox(Mailbox.unbounded())
        .newActor((run, context) -> schedule.run(run, context.self()));
    TimedMessages.sendAt(actor, schedule, new ScheduledRun(1), schedule.nextStart);
    return actor;
  }

  private void run(ScheduledRun run, Actor<ScheduledRun> self) throws Exception {
    try {
      task.handle(self);
    } finally {
      // All timers have the same key: if a failure policy retries this run, the timer of the retry
      // replaces the earlier timer.
      if (!self.onExit().isDone())
        TimedMessages.sendAt(self, this, new ScheduledRun(run.number() + 1), computeNextStart(run));
    }
  }

  /**
   * Returns when the next run starts. If several periods have passed, only one late run follows.
   */
  private long computeNextStart(ScheduledRun run) {
    long now = clock.nanoTime();
    if (!isFixedRate) return now + interval;
    if (lastNumber < run.number()) nextStart += interval;
    lastNumber = run.number();
    if (now - nextStart > 0) nextStart += (now - nextStart) / interval * interval;
    return nextStart;
  }
}
