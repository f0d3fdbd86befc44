package io.fibry.simulation;

import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One direction of a connection: bytes that have not arrived yet. Used by one simulated thread at a
 * time.
 */
final class SocketPipe {
  private static final int WINDOW = 64 * 1024; // bytes, until a writer waits

  /** @param due when it arrives, if nothing parts the places */
  private record PipeChunk(byte[] bytes, long due) {}

  private final SimulationRun run;
  private final SimulatedNetwork network;
  private final FailureDomain from;
  private final FailureDomain to;
  private final ArrayDeque<PipeChunk> pieces = new ArrayDeque<>();
  private int read; // of the first piece
  private int size; // of all pieces
  private long last; // when the last one arrives
  private boolean ended;
  private boolean broken;
  private @Nullable Thread reader;
  private @Nullable Thread writer;

  SocketPipe(SimulationRun run, SimulatedNetwork network, FailureDomain from, FailureDomain to) {
    this.run = run;
    this.network = network;
    this.from = from;
    this.to = to;
    network.add(this);
  }

  FailureDomain from() {
    return from;
  }

  FailureDomain to() {
    return to;
  }

  void write(SimulatedSocket by, byte[] bytes, int at, int length) throws IOException {
    if (network.shouldBreak()) by.breakOff();
    for (int end = at + length; at < end;) {
      while (size >= WINDOW && !broken && !by.isClosed()) {
        writer = Thread.currentThread();
        by.park(0);
      }
      if (by.isClosed() || ended) throw new SocketException("Socket closed");
      if (broken) throw new SocketException("Broken pipe");
      int some = network.piece(Math.min(end - at, WINDOW));
      last = Math.max(last, run.clock.now() + network.withLatency());
      pieces.add(new PipeChunk(Arrays.copyOfRange(bytes, at, at + some), last));
      size += some;
      at += some;
      onArrival();
    }
    run.yieldPoint();
  }

  /** Something may be there for the reader, now or when it is due. */
  void onArrival() {
    long left = last - run.clock.now();
    if (left > 0) run.clock.schedule(() -> wake(reader), left, to);
    else wake(reader);
  }

  private boolean isReadable() {
    var first = pieces.peek();
    return first != null && first.due <= run.clock.now() && !network.isParted(from, to);
  }

  /** {@return the number of bytes; -1 at the end} */
  int read(SimulatedSocket by, byte[] bytes, int at, int length) throws IOException {
    if (length == 0) return 0;
    long limit = by.timeLimit();
    while (!isReadable()) {
      if (by.isClosed()) throw new SocketException("Socket closed");
      if (broken) throw new SocketException("Connection reset");
      if (ended && pieces.isEmpty() && run.clock.now() >= last && !network.isParted(from, to)) return -1;
      if (run.clock.now() >= limit) throw new SocketTimeoutException("Read timed out");
      reader = Thread.currentThread();
      var first = pieces.peek();
      by.park(first == null || first.due <= run.clock.now() ? limit : Math.min(limit, first.due));
    }
    var piece = pieces.element();
    int some = Math.min(length, piece.bytes.length - read);
    System.arraycopy(piece.bytes, read, bytes, at, some);
    read += some;
    size -= some;
    if (read == piece.bytes.length) {
      pieces.remove();
      read = 0;
    }
    wake(writer);
    return some;
  }

  int available() {
    return isReadable() ? pieces.element().bytes.length - read : 0;
  }

  boolean isEmpty() {
    return pieces.isEmpty();
  }

  /** Ends the output: no more bytes are written. */
  void end() {
    ended = true;
    last = Math.max(last, run.clock.now());
    onArrival();
    wake(writer);
  }

  /** Loses the bytes that have not arrived. */
  void breakOff() {
    broken = true;
    pieces.clear();
    size = 0;
    network.remove(this);
    wake(reader);
    wake(writer);
  }

  private static void wake(@Nullable Thread thread) {
    if (thread != null) LockSupport.unpark(thread);
  }
}
