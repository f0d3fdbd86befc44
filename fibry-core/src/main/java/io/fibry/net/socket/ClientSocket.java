package io.fibry.net.socket;

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
 * The socket of one client. One thread reads; any thread may write. {@link LimitChecker} enforces
 * the limits of the connection, because a socket's own time-out would cost a timer for each read.
 */
public final class ClientSocket implements AutoCloseable {
  // the time for the rest of a request's head after the listener stops
  private static final Duration LAST_HEAD_LIMIT = Duration.ofSeconds(1);
  static final int CHUNK_SIZE = 64 * 1024; // bytes written under one write limit
  private static final VarHandle CLOSED = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "closed",
      VarHandle.class, ClientSocket.class, boolean.class);

  private final Transport transport;
  private final Scheduler clock;
  private final ListenerLimits limits;
  private final long totalDeadline;
  private final StackSafeLock writeLock = new StackSafeLock(false); // held during a whole write
  public final CurrentStep step = new CurrentStep(); // the present step of the conversation
  // null before the conversation; only compared with the current thread, so not volatile
  private Thread conversationThread;
  private volatile Actor<?> actor; // handles the conversation; null until the conversation begins
  public final HandlerNotices notices;

  private final ReadLimit readLimit;
  private final ClientDeadlines deadlines;
  // The next two fields are null unless the handler is a Forwarder. Written by the conversation;
  // read by checkLimits() and close()
  private volatile Socket target;
  private volatile ClientSocket checkedTarget;
  private boolean hasKeepAlive; // used by checkLimits() only

  private volatile boolean closed; // changes to true once, by compare-and-set, so one thread closes
  // Why the connection was cut off; written once, before the close; read by calls that fail
  private volatile String reason;
  public volatile boolean wasCutOff; // because of a limit; written before the socket is closed
  private volatile boolean isLimitPassed; // whether a limit was exceeded; written before `reason`
  private final ClientErrors clientErrors = new ClientErrors();
  private final SocketDependents dependents = new SocketDependents();
  public final ConnectionShutdown shutdown = new ConnectionShutdown();

  /**
   * Makes a socket, which speaks TLS if {@code tls} is present. The supplier makes the TLS engine.
   */
  ClientSocket(Transport plain, Scheduler clock, ListenerLimits limits, Optional<Supplier<SSLEngine>> tls) {
    this.clock = clock;
    this.limits = limits;
    this.transport = tls.isPresent() ? new TlsTransport(plain, tls.get(), this::writeControl) : plain;
    this.deadlines = new ClientDeadlines(transport);
    this.notices = new HandlerNotices(clock, transport);
    this.readLimit = new ReadLimit(clock, transport);
    this.totalDeadline =
        limits.totalLimit() == ListenerLimits.NO_LIMIT ? 0 : deadlineAfter(Durations.nanos(limits.totalLimit()));
    limitEachRead(limits.idleLimit());
  }

  private long deadlineAfter(long nanos) {
    return ReadLimit.deadlineAfter(clock, nanos);
  }

  public InetSocketAddress remoteAddress() {
    return transport.remoteAddress();
  }

  public Optional<SSLSession> tls() {
    return transport.tls();
  }

  /** Called when the conversation begins. Reads and writes of this thread pause the step. */
  void bindTo(Thread thread, Actor<?> actor) {
    if (transport.needsHandshake()) step.beginHandshake(toString());
    else step.beginConversation(toString());
    conversationThread = thread;
    this.actor = actor;
  }

  /**
   * {@return whether the actor is ending, for example after a kill} An ending actor refuses even an
   * empty list of messages.
   */
  public boolean isActorEnding() {
    var handler = actor;
    return handler != null && !handler.sendMessages(List.of());
  }

  /** Called before a long wait, during which the conversation shall not be reported as slow. */
  public void stopTracking() {
    if (Thread.currentThread() == conversationThread) step.hide();
  }

  private boolean pauseStep() {
    if (Thread.currentThread() != conversationThread) return false;
    step.pause();
    notices.pause();
    return true;
  }

  private void resumeStep() {
    notices.resume();
    step.resume();
  }

  /**
   * Negotiates TLS. During the handshake the connection counts as idle, because its close would
   * lose no data.
   */
  void handshake() throws IOException {
    if (!transport.needsHandshake()) return;
    if (!shutdown.beginIdle()) endInput();
    limitAllReads(limits.handshakeLimit());
    deadlines.beginRead(Thread.currentThread(), readLimit.deadline());
    try {
      transport.handshake();
    } catch (IOException failure) {
      throw asClientError(failure);
    } finally {
      deadlines.endRead();
      shutdown.endIdle();
    }
    step.beginConversation(toString());
    limitEachRead(limits.idleLimit());
  }

  // ---- reading

  public void limitEachRead(Duration limit) {
    readLimit.limitEachRead(limit);
  }

  public void limitAllReads(Duration limit) {
    readLimit.limitAllReads(limit);
  }

  int read(byte[] bytes, int offset, int length) throws IOException {
    boolean isPaused = pauseStep();
    try {
      boolean isAhead = notices.isReadingAhead() && length > 0;
      int maxLength = isAhead ? readLimit.beginWait() : readLimit.begin(length);
      if (maxLength == 0 && length > 0) cutOff(readLimit.tooSlowText(this), true);
      deadlines.beginRead(notices.reader(), readLimit.deadline());
      int count = isAhead ? notices.takeByte(bytes, offset)
          : transport.read(bytes, offset, Math.min(length, Math.max(1, maxLength)));
      readLimit.end(count);
      return count;
    } catch (IOException failure) {
      throw asClientError(failure);
    } finally {
      deadlines.endRead();
      if (isPaused) resumeStep();
    }
  }

  /** Called before a read outside of an exchange. */
  void beginInputWait() {
    if (Thread.currentThread() == conversationThread) step.inputWait.begin(notices.reader(), transport);
  }

  /** Makes the current read, or the next read, find the end of the stream. */
  public void endInput() {
    step.inputWait.cancel();
    if (!closed) transport.endInput();
  }

  public void endOutput() throws IOException {
    sendCloseNotify();
    transport.endOutput();
  }

  /**
   * If the connection uses TLS, announces the end of the output, so that the client does not take
   * the end for a truncation.
   */
  private void sendCloseNotify() throws IOException {
    if (transport.hasCloseNotify()) writeControl(transport::sendCloseNotify);
  }

  @SuppressWarnings("try") // the variable of the lock is not used
  private void writeControl(Transport.ControlWrite controlWrite) throws IOException {
    try (var held = writeLock.acquire()) {
      deadlines.beginWrite(deadlineAfter(Durations.nanos(limits.writeLimit())));
      try {
        controlWrite.write();
      } finally { // cleared before the lock is released, because the next writer sets a deadline of its own
        deadlines.endWrite();
      }
    }
  }

  // ---- writing

  /** Writes all bytes, in one system call if they are at most a chunk. */
  public void send(byte[] bytes, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, bytes.length);
    try {
      write(bytes, offset, length);
    } catch (IOException failure) {
      throw asClientError(failure);
    }
  }

  /**
   * Sends bytes for the outbox. A failure is not remembered as an error of the client, because the
   * conversation does not get it.
   */
  public void sendFromOutbox(byte[] bytes) throws IOException {
    try {
      write(bytes, 0, bytes.length);
    } catch (IOException failure) {
      throw withReason(failure);
    }
  }

  @SuppressWarnings("try") // the variable of the lock is not used
  private void write(byte[] bytes, int offset, int length) throws IOException {
    boolean isPaused = pauseStep();
    try (var held = writeLock.acquire()) {
      writeLocked(bytes, offset, length);
    } finally {
      if (isPaused) resumeStep();
    }
  }

  private void writeLocked(byte[] bytes, int offset, int length) throws IOException {
    try {
      long nanos = Durations.nanos(limits.writeLimit());
      for (int written = 0; written < length; written += CHUNK_SIZE) {
        deadlines.beginWrite(deadlineAfter(nanos));
        transport.write(bytes, offset + written, Math.min(CHUNK_SIZE, length - written));
      }
    } catch (Error error) { // the client must not take later bytes for the rest of this write
      cutOff(this + " was cut off: " + Lines.thrown(error) + " ended a write early", false);
      throw error;
    } finally {
      deadlines.endWrite();
    }
  }

  public void closeTargetOnClose(Socket target) {
    this.target = target;
    if (closed) closeTarget();
  }

  /**
   * Makes checkLimits() check the target, too. The idle limit cuts the two sockets off only if both
   * exceed it.
   */
  public ClientSocket checkTogetherWith(Socket target) throws IOException {
    var targetSocket = new ClientSocket(new PlainTransport(target), clock, limits, Optional.empty());
    targetSocket.limitEachRead(ListenerLimits.NO_LIMIT);
    limitEachRead(ListenerLimits.NO_LIMIT);
    targetSocket.renewIdleDeadline();
    renewIdleDeadline();
    return checkedTarget = targetSocket;
  }

  public void renewIdleDeadline() {
    deadlines.renewIdle(deadlineAfter(Durations.nanos(limits.idleLimit())));
  }

  /**
   * Called when the listener stops. Ends an idle conversation. A client that has sent a part of a
   * head gets one second for the rest.
   */
  void beginShutdown() {
    if (shutdown.beginShutdown(deadlineAfter(Durations.nanos(LAST_HEAD_LIMIT)))) endInput();
  }

  void checkLimits(long now) {
    if (closed) return;
    if (deadlines.isReadTooLate(now)) cutOff(readLimit.tooSlowText(this), true);
    else if (deadlines.isWriteTooLate(now)) reset(this
        + " did not take what was written to it within " + Durations.text(limits.writeLimit())
        + " (the write limit), so it was cut off", true);
    else if (ClientDeadlines.hasPassed(totalDeadline, now))
      cutOff(
          this + " lasted longer than " + Durations.text(limits.totalLimit()) + " (the total limit), so it was cut off",
          true);
    else if (shutdown.isHeadOverdue(now))
      cutOff(this + " had not sent the head of its request when the server ended, so it was cut off", true);
    else
      if (isIdleTooLong(now))
        cutOff("nothing came from " + this + " or its target for " + Durations.text(limits.idleLimit())
            + " (the idle limit), so both were cut off", true);
      else if (!hasKeepAlive) {
        hasKeepAlive = true;
        transport.enableKeepAlive();
      }
    var targetSocket = checkedTarget;
    if (targetSocket != null) targetSocket.checkLimits(now);
  }

  private boolean isIdleTooLong(long now) {
    var targetSocket = checkedTarget;
    return targetSocket != null && deadlines.isIdleTooLong(now) && targetSocket.deadlines.isIdleTooLong(now);
  }

  // ---- the end

  /**
   * Closes the socket. Reads and writes that fail afterwards throw an exception with this reason.
   * Unless the connection is idle, the close is a reset. A reset drops all bytes that the other
   * side has not read, so the client cannot mistake it for the end of the stream.
   */
  void cutOff(String reason, boolean isLimitPassed) {
    synchronized (this) {
      if (closed || this.reason != null) return;
      this.isLimitPassed = isLimitPassed;
      this.reason = reason;
    }
    if (!shutdown.isIdle()) resetOnClose();
    close();
  }

  /** Resets the connection. Its client counts as cut off if it has exceeded a limit. */
  public void reset(String reason, boolean isLimitPassed) {
    resetOnClose();
    cutOff(reason, isLimitPassed);
  }

  private void resetOnClose() {
    if (isLimitPassed) wasCutOff = true;
    transport.resetOnClose();
    var currentTarget = target;
    if (currentTarget != null) PlainTransport.resetOnClose(currentTarget);
  }

  /**
   * Returns the exception that the conversation gets for this failure. {@link #isClientError}
   * recognizes this exception later.
   */
  public IOException asClientError(IOException failure) {
    return clientErrors
        .add(withReason(failure instanceof SSLException tls ? TlsTransport.withClient(tls, toString()) : failure));
  }

  private IOException withReason(IOException failure) {
    if (reason == null) return failure;
    return isLimitPassed ? new SocketTimeoutException(reason) : new SocketException(reason);
  }

  public boolean isClientError(Throwable failure) {
    return clientErrors.isCauseOf(failure) || checkedTarget != null && checkedTarget.isClientError(failure);
  }

  public boolean isClosed() {
    return closed;
  }

  /** Returns why the client was cut off, if that was because of a limit. Otherwise returns null. */
  public String exceededLimit() {
    return isLimitPassed ? reason : null;
  }

  @Override
  public void close() {
    try {
      if (!closed && reason == null) sendCloseNotify(); // after a cut-off, the client must not see a regular end
    } catch (IOException disconnected) {} finally {
      closeNow();
    }
  }

  private void closeNow() {
    if (!CLOSED.compareAndSet(this, false, true)) return;
    step.inputWait.cancel();
    transport.close();
    closeTarget();
    dependents.end();
  }

  private void closeTarget() {
    var currentTarget = target;
    if (currentTarget != null) PlainTransport.close(currentTarget);
  }

  /** Ends the actor when this socket is closed, or now if it is closed already. */
  void endOnClose(Exitable actor) {
    dependents.add(actor);
    if (closed) dependents.end();
  }

  @Override
  public String toString() {
    return "client " + remoteAddress();
  }
}
