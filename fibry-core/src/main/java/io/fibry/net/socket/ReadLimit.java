package io.fibry.net.socket;

import io.fibry.text.Durations;
import io.fibry.time.Scheduler;
import java.io.IOException;
import java.time.Duration;

/**
 * Limits how long a client may take to send, in each read or in all reads together. Used by the
 * thread that reads.
 *
 * <p>A limit of all reads does not count the time between two reads if bytes have arrived when the
 * second read begins. In that time the client may have filled the buffers of the socket and waited
 * for the handler. When the limit is over, the bytes that have arrived until then can still be
 * read, because the client was in time and this process was late. Later bytes cannot be read, so a
 * client that never stops sending can add at most the bytes that a socket's buffer holds.
 */
final class ReadLimit {
  private final Scheduler clock;
  private final Transport transport;
  private Duration limit; // shown by tooSlowText(), which the limit check also calls
  private boolean isForAllReads; // whether the limit is for all reads together; also read by the limit check
  private long nanos; // the limit, for each read or for all reads; 0 means no limit
  private long deadline; // time of the clock by which all reads, or the current read, must end; 0 means none
  private long readStart; // time of the clock when the current read began
  private long readNanos; // total time of the reads that have ended, in ns
  // bytes that had arrived when the limit of all reads was over, and are still unread; -1 until
  // that limit is over
  private long bytesInTime;

  ReadLimit(Scheduler clock, Transport transport) {
    this.clock = clock;
    this.transport = transport;
  }

  void limitEachRead(Duration limit) {
    this.limit = limit;
    isForAllReads = false;
    nanos = limit == ListenerLimits.NO_LIMIT ? 0 : Durations.nanos(limit);
  }

  void limitAllReads(Duration limit) {
    this.limit = limit;
    isForAllReads = true;
    nanos = Durations.nanos(limit);
    deadline = deadlineAfter(clock, nanos);
    readNanos = 0;
    bytesInTime = -1;
  }

  /**
   * Returns the time of the clock after these nanoseconds, but never 0, which means no deadline.
   */
  static long deadlineAfter(Scheduler clock, long nanos) {
    long deadline = clock.nanoTime() + nanos;
    return deadline == 0 ? 1 : deadline;
  }

  /** Begins a read. Returns how many bytes may be read, or 0 if the limit is over. */
  int begin(int length) throws IOException {
    if (!isForAllReads) {
      deadline = nanos == 0 ? 0 : deadlineAfter(clock, nanos);
      return length;
    }
    if (bytesInTime < 0) {
      readStart = clock.nanoTime();
      if (readStart - deadline < 0) return length;
      long arrivedBytes = transport.arrivedBytes();
      if (arrivedBytes > 0 && readNanos < nanos) {
        deadline = deadlineAfter(clock, nanos - readNanos);
        return length;
      }
      bytesInTime = arrivedBytes;
    }
    return bytesInTime == 0 || transport.available() == 0 ? 0 : (int) Math.min(bytesInTime, length);
  }

  /**
   * Begins a wait for the byte that another thread reads, without using the transport. Returns 1.
   */
  int beginWait() {
    if (isForAllReads) readStart = clock.nanoTime();
    else deadline = nanos == 0 ? 0 : deadlineAfter(clock, nanos);
    return 1;
  }

  /** Ends a read, which got {@code count} bytes, or -1 at the end of the stream. */
  void end(int count) {
    if (isForAllReads && bytesInTime < 0) readNanos += clock.nanoTime() - readStart;
    if (bytesInTime > 0) bytesInTime -= Math.max(0, count);
  }

  /**
   * Returns the deadline of the read that was begun; 0 if there is none, or if the read will not
   * wait.
   */
  long deadline() {
    return isForAllReads && bytesInTime >= 0 ? 0 : deadline;
  }

  String tooSlowText(Object client) {
    String text = Durations.text(limit);
    return client + (isForAllReads ? " did not finish sending within " + text
        : " sent nothing for " + text + " (the idle limit)") + ", so it was cut off";
  }
}
