package io.fibry.net;

import io.fibry.Exitable;
import io.fibry.time.Scheduler;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The socket of one client. Reading belongs to one thread, writing to any; what blocks too long is
 * cut off by the listener's {@link LimitCheck}, since a read with a time-out of its own would cost a
 * timer each time.
 *
 * <p>{@code open -> closed}, by whoever is first. A link is <em>over</em> when its conversation is,
 * which may be later.
 */
final class ClientSocket implements AutoCloseable {
  static final int PIECE = 64 * 1024; // so much is written under one write limit
  private static final Duration BEFORE_KEEPALIVE = Duration.ofSeconds(30);
  private static final int REMEMBERED = 4;
  private static final VarHandle CLOSED;
  private static final VarHandle READ_BY;
  private static final VarHandle WRITE_BY;
  private static final VarHandle IDLE_BY;

  static {
    try {
      var lookup = MethodHandles.lookup();
      CLOSED = lookup.findVarHandle(ClientSocket.class, "closed", boolean.class);
      READ_BY = lookup.findVarHandle(ClientSocket.class, "readBy", long.class);
      WRITE_BY = lookup.findVarHandle(ClientSocket.class, "writeBy", long.class);
      IDLE_BY = lookup.findVarHandle(ClientSocket.class, "idleBy", long.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  private final Socket socket;
  private final InputStream rawIn;
  private final OutputStream rawOut;
  private final Scheduler clock;
  private final ListenerLimits limits;
  private final long endBy; // 0: no total limit
  private final ReentrantLock writing = new ReentrantLock(); // so that each write is whole
  private Duration readLimit; // the reader's thread; the watch only prints it
  private long readNanos; // the reader's thread
  private long deadline; // for all reads, if `absolute`; the reader's thread
  private boolean absolute; // the reader's thread
  // when a read that blocks is cut off, 0: none does. Opaque; written by the reader, read by the
  // watch
  private long readBy;
  private long writeBy; // the same for a write; written by who has the lock
  // when it is cut off unless something comes from it or from the one behind, 0: never. Opaque;
  // written by the thread that forwards from it
  private long idleBy;
  private boolean keptAlive; // the watch's
  private volatile boolean closed; // false -> true, once
  private volatile String why; // it was cut off; written before `closed`, by whoever cuts first
  private volatile boolean late; // by a limit
  // what the conversation was told last: the client is gone, or not fit to be talked to. Null:
  // nothing. Under the monitor
  private IOException[] lost;
  // end with the link; replaced under the monitor, read by who closes
  private volatile List<Exitable> attached = List.of();
  // is closed with this one; null: none. Written by the conversation
  private volatile Socket behind;
  // is watched with this one, around the socket behind it; null: none. Written by the conversation
  private volatile ClientSocket other;
  // written by the reader before it looks at `ending`; read by who has set that
  private volatile boolean resting;
  // null: nothing; written before `ending` is looked at, read after it was set
  private volatile Exitable endless;
  private volatile boolean ending; // false -> true, once the listener stops

  ClientSocket(Socket socket, Scheduler clock, ListenerLimits limits) throws IOException {
    this.socket = socket;
    this.clock = clock;
    this.limits = limits;
    this.rawIn = socket.getInputStream();
    this.rawOut = socket.getOutputStream();
    this.endBy = limits.total() == ListenerLimits.NONE ? 0 : by(ListenerLimits.nanos(limits.total()));
    readIdle(limits.idle());
    withoutDelay();
  }

  private void withoutDelay() {
    try {
      socket.setTcpNoDelay(true);
    } catch (IOException gone) {
      // the client; who reads is told
    }
  }

  private long by(long nanos) {
    long by = clock.nanoTime() + nanos;
    return by == 0 ? 1 : by;
  }

  InetSocketAddress remoteAddress() {
    return (InetSocketAddress) socket.getRemoteSocketAddress();
  }

  InetSocketAddress localAddress() {
    return (InetSocketAddress) socket.getLocalSocketAddress();
  }

  // ---- reading: the reader's thread

  /** From now on each read may take so long; Limits.NONE: as long as it likes. */
  void readIdle(Duration limit) {
    readLimit = limit;
    readNanos = limit == ListenerLimits.NONE ? 0 : ListenerLimits.nanos(limit);
    absolute = false;
  }

  /** From now on all reads together may take so long, until told otherwise. */
  void readWithin(Duration limit) {
    readLimit = limit;
    absolute = true;
    deadline = by(ListenerLimits.nanos(limit));
  }

  /** One read of the socket; -1 at the end of the stream. */
  int receive(byte[] bytes, int offset, int length) throws IOException {
    long by = absolute ? deadline : readNanos == 0 ? 0 : by(readNanos);
    if (absolute && clock.nanoTime() - deadline >= 0) cut(tooSlow(), true);
    READ_BY.setOpaque(this, by);
    try {
      return rawIn.read(bytes, offset, length);
    } catch (IOException failure) {
      throw lost(failure);
    } finally {
      READ_BY.setOpaque(this, 0L);
    }
  }

  int waiting() throws IOException {
    return rawIn.available();
  }

  /** A reader that waits, or reads later, is at the end of the stream. */
  void endInput() {
    try {
      if (!closed) socket.shutdownInput();
    } catch (IOException gone) {
      // then the reader is told that
    }
  }

  /** The client is told that nothing more comes. */
  void endOutput() throws IOException {
    socket.shutdownOutput();
  }

  // ---- writing: any thread

  /** Writes it whole, nothing of others between: in one call of the system, unless it is long. */
  void send(byte[] bytes, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, bytes.length);
    try {
      write(bytes, offset, length);
    } catch (IOException failure) {
      throw lost(failure);
    }
  }

  /** The same for who is not the conversation: it is told of its own failures alone. */
  void sendAside(byte[] bytes) throws IOException {
    try {
      write(bytes, 0, bytes.length);
    } catch (IOException failure) {
      throw told(failure);
    }
  }

  private void write(byte[] bytes, int offset, int length) throws IOException {
    writing.lock();
    try {
      long nanos = ListenerLimits.nanos(limits.write());
      for (int done = 0; done < length; done += PIECE) {
        WRITE_BY.setOpaque(this, by(nanos));
        rawOut.write(bytes, offset + done, Math.min(PIECE, length - done));
      }
    } finally {
      WRITE_BY.setOpaque(this, 0L);
      writing.unlock();
    }
  }

  // ---- the one behind: a forwarder's target

  /** Closes this socket with the link. */
  void behind(Socket socket) {
    behind = socket;
    if (closed) closeBehind();
  }

  /** The link of the socket behind it; both are watched, and only for standing still together. */
  ClientSocket other(Socket socket) throws IOException {
    var target = new ClientSocket(socket, clock, limits);
    target.readIdle(ListenerLimits.NONE);
    readIdle(ListenerLimits.NONE);
    target.active();
    active();
    return other = target;
  }

  void active() {
    IDLE_BY.setOpaque(this, by(ListenerLimits.nanos(limits.idle())));
  }

  // ---- between two requests, for conversations that have such rests

  /** Nothing is lost if it ends now; false: it has to. */
  boolean rest() {
    resting = true;
    return !ending;
  }

  void wake() {
    resting = false;
  }

  boolean isEnding() {
    return ending;
  }

  /** This one without an end of its own is to end as soon as the listener stops. */
  void endFirst(Exitable endless) {
    this.endless = endless;
    if (ending) endFirst();
  }

  private void endFirst() {
    var first = endless;
    // its end may run code of a user
    if (first != null) Thread.ofVirtual().inheritInheritableThreadLocals(false).start(first::sendPoisonPill);
  }

  /** The listener stops: a conversation that rests has ended, others see it when they will. */
  void end() {
    ending = true;
    if (resting) endInput();
    endFirst();
  }

  // ---- who is too slow: the watch

  void check(long now) {
    if (closed) return;
    if (passed((long) READ_BY.getOpaque(this), now)) cut(tooSlow(), true);
    else if (passed((long) WRITE_BY.getOpaque(this), now)) tear(this + " did not take what was written to it within "
        + limits.write() + " (the write limit), so it was cut off");
    else if (passed(endBy, now))
      cut(this + " lasted longer than " + limits.total() + " (the total limit), so it was cut off", true);
    else if (isIdle(now)) cut(
        "nothing came from " + this + " or its target for " + limits.idle() + " (the idle limit), so both were cut off",
        true);
    else if (!keptAlive) keepAlive();
    var target = other;
    if (target != null) target.check(now);
  }

  /** Both it and the one behind; one alone may be silent as long as it likes. */
  private boolean isIdle(long now) {
    var target = other;
    return target != null && passed((long) IDLE_BY.getOpaque(this), now)
        && passed((long) IDLE_BY.getOpaque(target), now);
  }

  private static boolean passed(long by, long now) {
    return by != 0 && now - by >= 0;
  }

  private String tooSlow() {
    return this + (absolute ? " did not send what it was to send within " + readLimit
        : " sent nothing for " + readLimit + " (the idle limit)") + ", so it was cut off";
  }

  /**
   * For a connection that lasts: the system finds out when its client is gone without a word. A
   * short one need not pay for it.
   */
  private void keepAlive() {
    keptAlive = true;
    try {
      socket.setKeepAlive(true);
      for (var option : socket.supportedOptions()) {
        switch (option.name()) {
          case "TCP_KEEPIDLE" -> set(option, (int) BEFORE_KEEPALIVE.toSeconds());
          case "TCP_KEEPINTERVAL" -> set(option, 10);
          case "TCP_KEEPCOUNT" -> set(option, 3);
          default -> {}
        }
      }
    } catch (IOException | UnsupportedOperationException none) {
      // the idle limit ends it all the same
    }
  }

  @SuppressWarnings("unchecked") // these three are numbers
  private void set(SocketOption<?> option, int value) throws IOException {
    socket.setOption((SocketOption<Integer>) option, value);
  }

  // ---- the end

  /** Closes it, and says why to whom reads or writes. */
  void cut(String why, boolean late) {
    synchronized (this) {
      if (closed || this.why != null) return;
      this.late = late;
      this.why = why;
    }
    close();
  }

  /**
   * The same for who does not read: the system forgets what it still holds for the client,
   * megabytes perhaps and as long as the client likes, and the client does not take it for an end.
   */
  void tear(String why) {
    try {
      socket.setSoLinger(true, 0);
    } catch (IOException gone) {
      // it is closed already
    }
    cut(why, true);
  }

  /**
   * What a reader or writer is told; remembered, so that its handler's failure is known for the
   * client's.
   */
  synchronized IOException lost(IOException failure) {
    var told = told(failure);
    if (lost == null) lost = new IOException[REMEMBERED];
    System.arraycopy(lost, 0, lost, 1, REMEMBERED - 1);
    return lost[0] = told;
  }

  private IOException told(IOException failure) {
    if (why == null) return failure;
    return late ? new SocketTimeoutException(why) : new SocketException(why);
  }

  /** Whether the handler failed because of the client. */
  boolean explains(Throwable failure) {
    int deep = 0;
    for (var cause = failure; cause != null && deep < 16; cause = cause.getCause(), deep++)
      if (wasTold(cause)) return true;
    return other != null && other.explains(failure);
  }

  private synchronized boolean wasTold(Throwable cause) {
    // exceptions are equal to themselves alone
    return lost != null && Arrays.asList(lost).contains(cause);
  }

  boolean isClosed() {
    return closed;
  }

  @Override
  public void close() {
    if (!CLOSED.compareAndSet(this, false, true)) return;
    try {
      socket.close();
    } catch (IOException gone) {
      // it is closed all the same
    }
    closeBehind();
    endAttached();
  }

  private void closeBehind() {
    try {
      var target = behind;
      if (target != null) target.close();
    } catch (IOException gone) {
      // it is closed all the same
    }
  }

  /** Ends this actor with the link; at once, if that is closed. */
  void attach(Exitable actor) {
    synchronized (this) {
      var more = new ArrayList<>(attached);
      more.add(actor);
      attached = List.copyOf(more);
    }
    if (closed) endAttached();
  }

  /** On a thread of its own: their ends may run code of users, and this may be a timer. */
  private void endAttached() {
    var actors = attached;
    if (actors.isEmpty() || actors.stream().allMatch(actor -> actor.onExit().isDone())) return;
    Thread.ofVirtual().inheritInheritableThreadLocals(false).start(() -> actors.forEach(Exitable::askExit));
  }

  @Override
  public String toString() {
    return "client " + remoteAddress();
  }
}
