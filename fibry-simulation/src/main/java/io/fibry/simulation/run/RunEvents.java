package io.fibry.simulation.run;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Records all events of a run as numbers, to find the first event at which two runs of a seed
 * differ. Only runs that are repeated for this search record events. Used by simulated threads and
 * the carrier.
 */
public final class RunEvents {

  enum RunEventKind {
    READY("thread %d is ready"), RUN("thread %d runs"), TIMER("a timer is set for %d ns"), CANCEL(
        "the timer for %d ns is cancelled"),
    TIME("a timer is due at %d ns"), RANDOM("random number: %x"), SPIN("a spin moves the clock to %d ns"), CLOCK_READ(
        "read %d of the clock"),
    YIELD_POINT(
        "thread %d passes a yield point");

    private final String text;

    RunEventKind(String text) {
      this.text = text;
    }
  }

  /** Returns a recorder that records no event. */
  public static RunEvents disabled() {
    return new RunEvents(null, -1);
  }

  /**
   * Returns a recorder that records all events.
   *
   * @param wantedEvent the index of the event whose stack trace is stored, or -1 to store none
   */
  public static RunEvents recording(int wantedEvent) {
    return new RunEvents(new long[1024], wantedEvent);
  }

  private long @Nullable [] events; // kind and value of each event; null: not recorded
  private int count; // events so far
  private final int wantedEvent;
  private @Nullable Throwable stackTrace; // the stack at the wanted event; null: not wanted, or not reached

  private RunEvents(long @Nullable [] events, int wantedEvent) {
    this.events = events;
    this.wantedEvent = wantedEvent;
  }

  void add(RunEventKind kind, long value) {
    if (events == null) return;
    if (count == events.length) events = Arrays.copyOf(events, 2 * count);
    if (count == wantedEvent) stackTrace = new Throwable(String.format(kind.text, value));
    events[count++] = (long) kind.ordinal() << 60 ^ value;
  }

  /** {@return the index of the first event that differs; -1 if all events are equal} */
  public int mismatch(RunEvents other) {
    return Arrays.mismatch(events, 0, count, other.events, 0, other.count);
  }

  int count() {
    return count;
  }

  @Nullable
  public Throwable stackTrace() {
    return stackTrace;
  }
}
