package io.fibry.simulation.io;

import io.fibry.simulation.run.FailureDomain;
import io.fibry.simulation.run.SimulationRun;
import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One direction of a connection, with the bytes that were written but not yet read. Used by one
 * simulated thread at a time.
 */
final class SocketPipe {
  private static final int MAX_BYTES = 64 * 1024; // a writer waits while the pipe has this many unread bytes

  /** @param due ns by the run's clock when the bytes arrive, unless a partition delays them */
  private record PipeChunk(byte[] bytes, long due) {}

  private final SimulationRun run;
  private final Network network;
  private final FailureDomain writerDomain;
  private final FailureDomain readerDomain;
  private final ArrayDeque<PipeChunk> chunks = new ArrayDeque<>();
  private int readBytes; // number of bytes of the first chunk that were read
  private int size; // bytes that were written and not read
  private long lastDue; // ns by the run's clock; when the last chunk, or the end, arrives
  private boolean ended; // the writer has ended its output, or the reader its input
  private boolean broken; // the connection was reset
  private @Nullable Thread reader; // the thread that waits, or waited last, for bytes
  private @Nullable Thread writer; // the thread that waits, or waited last, for capacity

  SocketPipe(SimulationRun run, Network network, FailureDomain writerDomain, FailureDomain readerDomain) {
    this.run = run;
    this.network = network;
    this.writerDomain = writerDomain;
    this.readerDomain = readerDomain;
    network.add(this);
  }

  FailureDomain writerDomain() {
    return writerDomain;
  }

  FailureDomain readerDomain() {
    return readerDomain;
  }

  void write(SimulatedSocket socket, byte[] bytes, int offset, int length) throws IOException {
    if (network.shouldBreak()) socket.breakConnection();
    int position = offset;
    for (int end = offset + length; position < end;) {
      while (size >= MAX_BYTES && !broken && !socket.isClosed()) {
        writer = Thread.currentThread();
        socket.park(0);
      }
      if (socket.isClosed() || ended) throw new SocketException("Socket closed");
      if (broken) throw new SocketException("Broken pipe");
      int count = network.drawPieceSize(Math.min(end - position, MAX_BYTES));
      lastDue = Math.max(lastDue, run.clock.now() + network.drawLatency());
      chunks.add(new PipeChunk(Arrays.copyOfRange(bytes, position, position + count), lastDue));
      size += count;
      position += count;
      wakeReaderOnArrival();
    }
    run.yieldAtSend();
  }

  /** Wakes the reader when the last chunk, or the end, arrives. */
  void wakeReaderOnArrival() {
    long delay = lastDue - run.clock.now();
    if (delay > 0) run.clock.schedule(() -> wake(reader), delay, readerDomain);
    else wake(reader);
  }

  private boolean isReadable() {
    var first = chunks.peek();
    return first != null && first.due <= run.clock.now() && !network.isSeparated(writerDomain, readerDomain);
  }

  /**
   * {@return the number of bytes that were read: 0 only if {@code length} is 0, and -1 at the end}
   */
  int read(SimulatedSocket socket, byte[] bytes, int offset, int length) throws IOException {
    if (length == 0) return 0;
    long deadline = socket.deadline();
    while (!isReadable()) {
      if (socket.isClosed()) throw new SocketException("Socket closed");
      if (broken) throw new SocketException("Connection reset");
      if (ended && chunks.isEmpty() && run.clock.now() >= lastDue
          && !network.isSeparated(writerDomain, readerDomain))
        return -1;
      if (run.clock.now() >= deadline) throw new SocketTimeoutException("Read timed out");
      reader = Thread.currentThread();
      var first = chunks.peek();
      socket.park(first == null || first.due <= run.clock.now() ? deadline : Math.min(deadline, first.due));
    }
    var chunk = chunks.element();
    int count = Math.min(length, chunk.bytes.length - readBytes);
    System.arraycopy(chunk.bytes, readBytes, bytes, offset, count);
    readBytes += count;
    size -= count;
    if (readBytes == chunk.bytes.length) {
      chunks.remove();
      readBytes = 0;
    }
    wake(writer);
    return count;
  }

  int available() {
    return isReadable() ? chunks.element().bytes.length - readBytes : 0;
  }

  boolean isEmpty() {
    return chunks.isEmpty();
  }

  /** Ends the output: further writes fail, and the reader gets the end after the last byte. */
  void end() {
    ended = true;
    lastDue = Math.max(lastDue, run.clock.now());
    wakeReaderOnArrival();
    wake(writer);
  }

  /** Breaks the connection: the bytes that were not read are lost, and reads and writes fail. */
  void breakConnection() {
    broken = true;
    chunks.clear();
    size = 0;
    network.remove(this);
    wake(reader);
    wake(writer);
  }

  private static void wake(@Nullable Thread thread) {
    if (thread != null) LockSupport.unpark(thread);
  }
}
