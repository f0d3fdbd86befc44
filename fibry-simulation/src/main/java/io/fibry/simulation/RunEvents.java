package io.fibry.simulation;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * All that happens in a run, as numbers, to find where two runs of a seed part: kept by the runs of
 * a search for that only. Used by the carrier.
 */
final class RunEvents {

  enum RunEventKind {
    READY("thread %d is ready"), RUNS("thread %d goes on"), TIMER("a timer is set for %d ns"), CANCEL(
        "the timer for %d ns is cancelled"),
    TIME("it is %d ns"), CHANCE("chance: %x"), SPIN("a spin, until %d ns"), LOOK("look %d at the clock"), POINT(
        "thread %d passes a fine point");

    private final String text;

    RunEventKind(String text) {
      this.text = text;
    }
  }

  /** Keeps nothing. */
  static RunEvents disabled() {
    return new RunEvents(null, -1);
  }

  /** @param wantedEvent the number of the event whose stack is kept, or -1 to keep no stack */
  static RunEvents recording(int wantedEvent) {
    return new RunEvents(new long[1024], wantedEvent);
  }

  private long @Nullable [] all; // null: not wanted
  private int count;
  private final int wantedEvent;
  private @Nullable Throwable stackTrace; // of the one wanted

  private RunEvents(long @Nullable [] all, int wantedEvent) {
    this.all = all;
    this.wantedEvent = wantedEvent;
  }

  void add(RunEventKind kind, long what) {
    if (all == null) return;
    if (count == all.length) all = Arrays.copyOf(all, 2 * count);
    if (count == wantedEvent) stackTrace = new Throwable(String.format(kind.text, what));
    all[count++] = (long) kind.ordinal() << 60 ^ what;
  }

  /** {@return the first that differs; -1 if none does} */
  int mismatch(RunEvents other) {
    return Arrays.mismatch(all, 0, count, other.all, 0, other.count);
  }

  int count() {
    return count;
  }

  @Nullable
  Throwable stackTrace() {
    return stackTrace;
  }
}
