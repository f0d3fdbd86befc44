package io.fibry.net.socket;

import io.fibry.time.Scheduler;
import java.io.IOException;
import java.time.Duration;

/**
 * Interrupts the handler of an exchange at its time limit, and notifies it that its client has
 * disconnected. Used by the conversation only.
 */
public final class HandlerNotices {
  private final Scheduler clock;
  private final Transport transport;
  private final String client;
  private HandlingLimit limit; // null unless the time of the present handler is limited
  private ReadAhead readAhead; // has the next byte, or waits for it; null if the conversation reads the transport

  HandlerNotices(Scheduler clock, Transport transport, String client) {
    this.clock = clock;
    this.transport = transport;
    this.client = client;
  }

  /** Interrupts the current thread after this time, unless {@link #endLimit} comes first. */
  public void limitHandling(Duration duration) {
    limit = HandlingLimit.begin(clock, duration);
  }

  /** Ends the limit, if there is one. Returns whether it was exceeded. */
  public boolean endLimit() {
    var ended = limit;
    if (ended == null) return false;
    ended.end();
    limit = null;
    return ended.isPassed();
  }

  /** Called before the conversation reads or writes the socket. */
  void pause() {
    if (limit != null) limit.pause();
  }

  /** Called after the conversation has read or written the socket. */
  void resume() {
    if (limit != null) limit.resume();
  }

  /** Runs the action once if the client disconnects before {@link #forgetDisconnect}. */
  public void onDisconnect(Runnable action) {
    if (readAhead == null) readAhead = ReadAhead.start(transport, client + "/disconnect");
    readAhead.watch(action);
  }

  /** Forgets the action of {@link #onDisconnect} unless it has begun. */
  public void forgetDisconnect() {
    if (readAhead != null) readAhead.forget();
  }

  boolean isReadingAhead() {
    return readAhead != null;
  }

  /** Waits for the byte that is read ahead. Returns 1, or -1 at the end of the stream. */
  int takeByte(byte[] bytes, int offset) throws IOException {
    int count = readAhead.take(bytes, offset);
    readAhead = null;
    return count;
  }

  /** Returns how many bytes the next read can return without waiting. */
  int available() throws IOException {
    return readAhead == null ? transport.available() : readAhead.hasByte() ? 1 : 0;
  }

  /** Returns whether bytes have arrived that the conversation has not read. */
  boolean hasUnread() throws IOException {
    return readAhead == null ? transport.hasUnread() : readAhead.hasByte() || transport.hasUnreadInSocket();
  }
}
