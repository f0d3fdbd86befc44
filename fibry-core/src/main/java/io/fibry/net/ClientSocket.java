package io.fibry.net;

import io.fibry.Actor;
import io.fibry.Exitable;
import io.fibry.block.StackSafeLock;
import io.fibry.text.Durations;
import io.fibry.text.Lines;
import io.fibry.time.Scheduler;
import java.io.IOException;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSession;

/**
 * The socket of one client. One thread reads, any thread writes. {@link LimitChecker} enforces its
 * limits: a time-out of the socket would cost a timer per read.
 */
final class ClientSocket implements AutoCloseable {
  private static final Duration LAST_HEAD = Duration.ofSeconds(1); // after the listener stops
  static final int CHUNK_SIZE = 64 * 1024; // bytes written under one write limit
  private static final VarHandle CLOSED = field("closed", boolean.class);
  private static final VarHandle READ_DEADLINE = field("readDeadline", long.class);
  private static final VarHandle WRITE_DEADLINE = field("writeDeadline", long.class);
  private static final VarHandle IDLE_DEADLINE = field("idleDeadline", long.class);

  private static VarHandle field(String name, Class<?> type) {
    return ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), name, VarHandle.class, ClientSocket.class, type);
  }

  final Transport transport; // others ask it for what has come
  private final Scheduler clock;
  private final ListenerLimits limits;
  private final long totalDeadline;
  private final StackSafeLock writing = new StackSafeLock(false); // keeps each write whole
  final CurrentStep step = new CurrentStep(); // of the conversation
  private Thread conversationThread; // in the conversation; each thread looks for itself only
  private volatile Actor<?> actor; // of the conversation; null until it begins

  private final ReadLimit readLimit;
  // Deadlines are 0 if there is none. Written by the thread that reads, writes or forwards, in
  // opaque mode; read by the check
  private long readDeadline;
  private long writeDeadline;
  private long idleDeadline; // of a forwarder
  // Both are null except for a forwarder. Written by the conversation, read by the check and the
  // close
  private volatile Socket target;
  private volatile ClientSocket checkedTarget;
  // of the check
  private boolean keptAlive;
  private long deferredDeadline; // a deadline that passed while bytes had come, or 0

  private volatile boolean closed; // changes to true once, by compare-and-set, so one thread closes
  // Why the connection was cut off; written once, before the close; read by calls that fail
  private volatile String reason;
  private volatile boolean limitPassed; // a limit has passed
  private final ClientErrors clientErrors = new ClientErrors();
  private final SocketDependents dependents = new SocketDependents();

  final ConnectionShutdown shutdown = new ConnectionShutdown();

  /** With TLS, if there are engines for it. */
  ClientSocket(Socket socket, Scheduler clock, ListenerLimits limits, Optional<Supplier<SSLEngine>> tls)
      throws IOException {
    this.clock = clock;
    this.limits = limits;
    var plain = new PlainTransport(socket);
    this.transport = tls.isPresent() ? new TlsTransport(plain, tls.get(), this::writeControl) : plain;
    this.readLimit = new ReadLimit(clock, transport);
    this.totalDeadline = limits.total() == ListenerLimits.NONE ? 0 : after(Durations.nanos(limits.total()));
    limitEachRead(limits.idle());
  }

  private long after(long nanos) {
    return ReadLimit.after(clock, nanos);
  }

  InetSocketAddress remoteAddress() {
    return transport.remoteAddress();
  }

  Optional<SSLSession> tls() {
    return transport.tls();
  }

  /** Called when the conversation begins; reads and writes are the client's turn. */
  void bindTo(Thread thread, Actor<?> actor) {
    step.begin("the conversation with " + this);
    conversationThread = thread;
    this.actor = actor;
  }

  /** {@return whether the conversation's actor was killed, so that its handler is interrupted} */
  boolean isHandlerKilled() {
    var handler = actor;
    return handler != null && !handler.sendMessages(List.of());
  }

  /** Called when further waits are no step of the handler. */
  void stopTracking() {
    if (Thread.currentThread() == conversationThread) step.leave();
  }

  private boolean pauseStep() {
    if (Thread.currentThread() != conversationThread) return false;
    step.pause();
    return true;
  }

  /** Before the conversation. Until both sides have agreed, an end loses no data. */
  void begin() throws IOException {
    if (!transport.needsHandshake()) return;
    if (!shutdown.beginIdle()) endInput();
    limitAllReads(limits.handshake());
    READ_DEADLINE.setOpaque(this, readLimit.deadline());
    try {
      transport.handshake();
    } catch (IOException failure) {
      throw asClientError(failure);
    } finally {
      READ_DEADLINE.setOpaque(this, 0L);
      shutdown.endIdle();
    }
    limitEachRead(limits.idle());
  }

  // ---- reading

  void limitEachRead(Duration limit) {
    readLimit.limitEachRead(limit);
  }

  void limitAllReads(Duration limit) {
    readLimit.limitAllReads(limit);
  }

  int read(byte[] bytes, int offset, int length) throws IOException {
    boolean turn = pauseStep();
    try {
      int most = readLimit.begin(length);
      if (most == 0 && length > 0) cutOff(readLimit.tooSlowText(this), true);
      READ_DEADLINE.setOpaque(this, readLimit.deadline());
      int some = transport.read(bytes, offset, Math.min(length, Math.max(1, most)));
      readLimit.end(some);
      return some;
    } catch (IOException failure) {
      throw asClientError(failure);
    } finally {
      if (turn) step.resume();
      READ_DEADLINE.setOpaque(this, 0L);
    }
  }

  /** The current read, or the next one, finds the end of the stream. */
  void endInput() {
    if (!closed) transport.endInput();
  }

  void endOutput() throws IOException {
    sendCloseNotify();
    transport.endOutput();
  }

  /** Where the link has words for it. */
  private void sendCloseNotify() throws IOException {
    if (transport.hasCloseNotify()) writeControl(transport::sendCloseNotify);
  }

  @SuppressWarnings("try") // the variable of the lock is not used
  private void writeControl(Transport.ControlWrite own) throws IOException {
    try (var held = writing.acquire()) {
      WRITE_DEADLINE.setOpaque(this, after(Durations.nanos(limits.write())));
      try {
        own.write();
      } finally { // while it is held: the next writer has a deadline of its own
        WRITE_DEADLINE.setOpaque(this, 0L);
      }
    }
  }

  // ---- writing

  /** Writes it whole; one system call, unless it is long. */
  void send(byte[] bytes, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, bytes.length);
    try {
      write(bytes, offset, length);
    } catch (IOException failure) {
      throw asClientError(failure);
    }
  }

  /** Sends bytes for the outbox; a failure is no failure of the conversation. */
  void sendFromOutbox(byte[] bytes) throws IOException {
    try {
      write(bytes, 0, bytes.length);
    } catch (IOException failure) {
      throw withReason(failure);
    }
  }

  @SuppressWarnings("try") // the variable of the lock is not used
  private void write(byte[] bytes, int offset, int length) throws IOException {
    boolean turn = pauseStep();
    try (var held = writing.acquire()) {
      writeLocked(bytes, offset, length);
    } finally {
      if (turn) step.resume();
    }
  }

  private void writeLocked(byte[] bytes, int offset, int length) throws IOException {
    try {
      long nanos = Durations.nanos(limits.write());
      for (int done = 0; done < length; done += CHUNK_SIZE) {
        WRITE_DEADLINE.setOpaque(this, after(nanos));
        transport.write(bytes, offset + done, Math.min(CHUNK_SIZE, length - done));
      }
    } catch (Error half) { // following bytes must not look like the rest of this write
      cutOff(this + " was cut off: " + Lines.thrown(half) + " broke a write off", false);
      throw half;
    } finally {
      WRITE_DEADLINE.setOpaque(this, 0L);
    }
  }

  void closeWithThis(Socket target) {
    this.target = target;
    if (closed) closeTarget();
  }

  /** Checks the target with this socket; they are idle together. */
  ClientSocket checkWithThis(Socket target) throws IOException {
    var checked = new ClientSocket(target, clock, limits, Optional.empty());
    checked.limitEachRead(ListenerLimits.NONE);
    limitEachRead(ListenerLimits.NONE);
    checked.noteActivity();
    noteActivity();
    return checkedTarget = checked;
  }

  void noteActivity() {
    IDLE_DEADLINE.setOpaque(this, after(Durations.nanos(limits.idle())));
  }

  /** The listener stops: an idle conversation ends, and a head that comes slowly is cut off. */
  void beginShutdown() {
    if (shutdown.beginShutdown(after(Durations.nanos(LAST_HEAD)))) endInput();
  }

  void check(long now) {
    if (closed) return;
    if (isTooLate((long) READ_DEADLINE.getOpaque(this), now)) cutOff(readLimit.tooSlowText(this), true);
    else if (passed((long) WRITE_DEADLINE.getOpaque(this), now)) reset(this
        + " did not take what was written to it within " + Durations.text(limits.write())
        + " (the write limit), so it was cut off");
    else if (passed(totalDeadline, now))
      cutOff(this + " lasted longer than " + Durations.text(limits.total()) + " (the total limit), so it was cut off",
          true);
    else if (shutdown.isHeadOverdue(now))
      cutOff(this + " had not sent the head of its request when the server ended, so it was cut off", true);
    else
      if (isIdleTooLong(now)) cutOff("nothing came from " + this + " or its target for " + Durations.text(limits.idle())
          + " (the idle limit), so both were cut off", true);
      else if (!keptAlive) {
        keptAlive = true;
        transport.enableKeepAlive();
      }
    var other = checkedTarget;
    if (other != null) other.check(now);
  }

  private boolean isIdleTooLong(long now) {
    var other = checkedTarget;
    return other != null && isTooLate((long) IDLE_DEADLINE.getOpaque(this), now)
        && other.isTooLate((long) IDLE_DEADLINE.getOpaque(other), now);
  }

  /** Where bytes have come, their reader may only want a processor: it has until the next check. */
  private boolean isTooLate(long deadline, long now) {
    if (!passed(deadline, now)) return false;
    if (deadline == deferredDeadline || !transport.hasArrived()) return true;
    deferredDeadline = deadline;
    return false;
  }

  private static boolean passed(long deadline, long now) {
    return deadline != 0 && now - deadline >= 0;
  }

  // ---- the end

  /**
   * Closes it; reads and writes fail with this reason. In the middle of a conversation this is a
   * reset: the system drops all bytes that the other side has not read, so the client cannot
   * mistake it for the end of the stream.
   */
  void cutOff(String reason, boolean late) {
    synchronized (this) {
      if (closed || this.reason != null) return;
      this.limitPassed = late;
      this.reason = reason;
    }
    if (!shutdown.isIdle()) resetOnClose();
    close();
  }

  void reset(String reason) {
    resetOnClose();
    cutOff(reason, true);
  }

  private void resetOnClose() {
    transport.resetOnClose();
    var other = target;
    if (other != null) PlainTransport.resetOnClose(other);
  }

  /** The failure for the conversation; {@link #isClientError} knows it again. */
  IOException asClientError(IOException failure) {
    return clientErrors
        .add(withReason(failure instanceof SSLException tls ? TlsTransport.named(tls, toString()) : failure));
  }

  private IOException withReason(IOException failure) {
    if (reason == null) return failure;
    return limitPassed ? new SocketTimeoutException(reason) : new SocketException(reason);
  }

  boolean isClientError(Throwable failure) {
    return clientErrors.isIn(failure) || checkedTarget != null && checkedTarget.isClientError(failure);
  }

  boolean isClosed() {
    return closed;
  }

  @Override
  public void close() {
    try {
      if (!closed && reason == null) sendCloseNotify(); // a cut must not look like an end
    } catch (IOException gone) {} finally {
      closeNow();
    }
  }

  private void closeNow() {
    if (!CLOSED.compareAndSet(this, false, true)) return;
    transport.close();
    closeTarget();
    dependents.end();
  }

  private void closeTarget() {
    var other = target;
    if (other != null) PlainTransport.close(other);
  }

  /** Ends the actor when, or if, this socket is closed. */
  void endOnClose(Exitable actor) {
    dependents.add(actor);
    if (closed) dependents.end();
  }

  @Override
  public String toString() {
    return "client " + remoteAddress();
  }
}
