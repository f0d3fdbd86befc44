package io.fibry.simulation;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * All that happens in a run, as numbers, to find where two runs of a seed part: kept by the runs of
 * a search for that only. Used by the carrier.
 */
final class Events {

  enum Kind {
    READY("thread %d is ready"), RUNS("thread %d goes on"), TIMER("a timer is set for %d ns"), CANCEL(
        "the timer for %d ns is cancelled"),
    TIME("it is %d ns"), CHANCE("chance: %x"), SPIN("a spin, until %d ns"), LOOK("look %d at the clock"), POINT(
        "thread %d passes a fine point");

    private final String text;

    Kind(String text) {
      this.text = text;
    }
  }

  /** Keeps nothing. */
  static Events none() {
    return new Events(null, -1);
  }

  /** @param wanted the number of the event whose stack is kept, or -1 to keep no stack */
  static Events kept(int wanted) {
    return new Events(new long[1024], wanted);
  }

  private long @Nullable [] all; // null: not wanted
  private int count;
  private final int wanted;
  private @Nullable Throwable place; // of the one wanted

  private Events(long @Nullable [] all, int wanted) {
    this.all = all;
    this.wanted = wanted;
  }

  void add(Kind kind, long what) {
    if (all == null) return;
    if (count == all.length) all = Arrays.copyOf(all, 2 * count);
    if (count == wanted) place = new Throwable(String.format(kind.text, what));
    all[count++] = (long) kind.ordinal() << 60 ^ what;
  }

  /** {@return the first that differs; -1 if none does} */
  int mismatch(Events other) {
    return Arrays.mismatch(all, 0, count, other.all, 0, other.count);
  }

  int count() {
    return count;
  }

  @Nullable
  Throwable place() {
    return place;
  }
}
