package io.fibry.net;

import io.fibry.text.Durations;
import io.fibry.time.Scheduler;
import java.io.IOException;
import java.time.Duration;

/**
 * How long a client may take to send: for each read, or for all of them together. If one limit
 * covers all reads, the time between two reads is the handler's when bytes wait at the beginning of
 * the next read: the client may have sent as much as fits. When the limit is over, the bytes that
 * have come until then are read all the same: the client was in time, and this process was late. So
 * a client that sends on and on gains no more than a socket holds. Belongs to the thread that
 * reads.
 */
final class ReadLimit {
  private final Scheduler clock;
  private final Transport transport;
  private Duration limit; // the check prints it
  private boolean limitIsTotal; // likewise
  private long nanos; // for each read, or for all reads; 0 means no limit
  private long deadline; // for all reads, or for the current read; 0 means none
  private long begun; // the current read
  private long reading; // nanoseconds of all reads
  private long spare; // bytes that had come when the limit of all reads was over; -1 until it is over

  ReadLimit(Scheduler clock, Transport link) {
    this.clock = clock;
    this.transport = link;
  }

  void limitEachRead(Duration limit) {
    this.limit = limit;
    limitIsTotal = false;
    nanos = limit == ListenerLimits.NONE ? 0 : Durations.nanos(limit);
  }

  void limitAllReads(Duration limit) {
    this.limit = limit;
    limitIsTotal = true;
    nanos = Durations.nanos(limit);
    deadline = after(clock, nanos);
    reading = 0;
    spare = -1;
  }

  /** Never 0, which means none. */
  static long after(Scheduler clock, long nanos) {
    long deadline = clock.nanoTime() + nanos;
    return deadline == 0 ? 1 : deadline;
  }

  /** Begins a read. Returns how many bytes may be read, or 0 if the limit is over. */
  int begin(int length) throws IOException {
    if (!limitIsTotal) {
      deadline = nanos == 0 ? 0 : after(clock, nanos);
      return length;
    }
    if (spare < 0) {
      begun = clock.nanoTime();
      if (begun - deadline < 0) return length;
      long arrived = transport.arrived();
      if (arrived > 0 && reading < nanos) {
        deadline = after(clock, nanos - reading);
        return length;
      }
      spare = arrived;
    }
    return spare == 0 || transport.available() == 0 ? 0 : (int) Math.min(spare, length);
  }

  /** Ends a read. */
  void end(int some) {
    if (limitIsTotal && spare < 0) reading += clock.nanoTime() - begun;
    if (spare > 0) spare -= Math.max(0, some);
  }

  /** Returns the deadline of the read that was begun, or 0 if that read will not wait. */
  long deadline() {
    return limitIsTotal && spare >= 0 ? 0 : deadline;
  }

  String tooSlowText(Object client) {
    String text = Durations.text(limit);
    return client + (limitIsTotal ? " did not finish sending within " + text
        : " sent nothing for " + text + " (the idle limit)") + ", so it was cut off";
  }
}
