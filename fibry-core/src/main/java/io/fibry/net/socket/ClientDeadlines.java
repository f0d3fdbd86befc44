package io.fibry.net.socket;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The deadlines by which a client must send and take bytes, and the checks whether it has exceeded
 * them. Times are of the clock, in nanoseconds; 0 means no deadline. Threads that read, write or
 * forward set the deadlines; the check of the limits reads them.
 *
 * <p>If a deadline is over, but the client may have been in time and this process late, the next
 * check decides. So one check spares a client whose bytes have arrived, and a client for which no
 * thread is parked. That thread may have taken the bytes, and not cleared the deadline yet. Each
 * check sees a platform thread as not parked.
 *
 * <p><b>Why a first check cuts off no client in time.</b> A thread stores itself before its
 * deadline, and clears the deadline before it waits for anything else. If the check finds no bytes,
 * either none have arrived, or the reader has taken them. In the latter case the reader still runs
 * when the check reads its state, or the deadline has changed when the check reads it again.
 */
final class ClientDeadlines {
  private static final VarHandle READ = field("read");
  private static final VarHandle WRITE = field("write");
  private static final VarHandle IDLE = field("idle");

  private static VarHandle field(String name) {
    return ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), name, VarHandle.class, ClientDeadlines.class,
        long.class);
  }

  private final Transport transport;
  // Written in release mode, read by the check in acquire mode
  private long read; // of the present read
  private long write; // of the present write
  private long idle; // set by a Forwarder only
  // Written before the deadline of a read or write, read after it; null before the first
  private Thread reader;
  private Thread writer;
  // Used by the check only: deadlines that are over, and about which the next check decides
  private long deferred;
  private long deferredWrite;

  ClientDeadlines(Transport transport) {
    this.transport = transport;
  }

  /** Called before a read; the reader is the thread that takes the bytes from the transport. */
  void beginRead(Thread reader, long deadline) {
    this.reader = reader;
    READ.setRelease(this, deadline);
  }

  void endRead() {
    READ.setRelease(this, 0L);
  }

  /** Called by the thread that writes. */
  void beginWrite(long deadline) {
    writer = Thread.currentThread();
    WRITE.setRelease(this, deadline);
  }

  void endWrite() {
    WRITE.setRelease(this, 0L);
  }

  void renewIdle(long deadline) {
    IDLE.setRelease(this, deadline);
  }

  // ---- the checks

  boolean isReadTooLate(long now) {
    return isTooLateToSend(READ, now);
  }

  boolean isIdleTooLong(long now) {
    return isTooLateToSend(IDLE, now);
  }

  private boolean isTooLateToSend(VarHandle field, long now) {
    long deadline = (long) field.getAcquire(this);
    if (!hasPassed(deadline, now)) return false;
    boolean isSpared = deadline != deferred && (transport.hasUnreadInSocket() || !isParked(reader));
    if (isSpared) deferred = deadline;
    return !isSpared && deadline == (long) field.getAcquire(this);
  }

  boolean isWriteTooLate(long now) {
    long deadline = (long) WRITE.getAcquire(this);
    if (!hasPassed(deadline, now)) return false;
    boolean isSpared = deadline != deferredWrite && !isParked(writer);
    if (isSpared) deferredWrite = deadline;
    return !isSpared && deadline == (long) WRITE.getAcquire(this);
  }

  private static boolean isParked(Thread thread) {
    return thread != null && thread.getState() == Thread.State.WAITING;
  }

  static boolean hasPassed(long deadline, long now) {
    return deadline != 0 && now - deadline >= 0;
  }
}
