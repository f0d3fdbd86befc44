package io.fibry.simulation.io;

import io.fibry.simulation.run.FailureDomain;
import io.fibry.simulation.run.SimulationRun;
import io.fibry.simulation.tap.RefusingSocket;
import java.io.FileDescriptor;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;

/** A TCP socket of the simulated network. Used by one simulated thread at a time. */
final class SimulatedSocket extends RefusingSocket {
  private static final int BUFFER_SIZE = 8192; // bytes; reported as a socket option, and without effect
  private static final int CONNECT_TIMEOUT = 120_000; // ms; used if the program sets no time-out
  private static final long NO_DEADLINE = Long.MAX_VALUE;

  private final SimulationRun run;
  private final Network network;
  private final boolean isServer;
  private final Map<SocketOption<?>, Object> options = new HashMap<>();
  private FailureDomain domain;
  private boolean closed;
  private int timeout; // how long accept and read wait, in ms; 0: no limit
  private @Nullable SocketPipe inPipe; // the pipe from which this side reads; null: not connected
  private @Nullable SocketPipe outPipe; // the pipe to which this side writes; null: not connected
  private @Nullable ArrayDeque<SimulatedSocket> backlog; // connections to accept; null: not listening
  private int maxBacklog;
  private @Nullable Thread accepter; // the thread that waits, or waited last, in accept

  SimulatedSocket(SimulationRun run, Network network, boolean isServer) {
    this.run = run;
    this.network = network;
    this.isServer = isServer;
    this.domain = run.currentDomain();
    this.fd = new FileDescriptor();
  }

  FailureDomain domain() {
    return domain;
  }

  boolean isClosed() {
    return closed;
  }

  /** Returns the deadline of a time-out that begins now, in nanoseconds of the run's clock. */
  long deadline() {
    return timeout == 0 ? NO_DEADLINE : run.clock.now() + timeout * 1_000_000L;
  }

  /**
   * Parks the current thread until it is unparked, or until a deadline. If the thread is
   * interrupted, this method closes the socket, as sockets of the JDK do for virtual threads.
   *
   * @param deadline in nanoseconds of the run's clock; 0 or {@link #NO_DEADLINE} for none
   */
  void park(long deadline) throws IOException {
    if (deadline > 0 && deadline < NO_DEADLINE) LockSupport.parkNanos(deadline - run.clock.now());
    else LockSupport.park();
    if (!Thread.currentThread().isInterrupted()) return;
    close();
    throw new SocketException("Closed by interrupt");
  }

  // ---- servers

  @Override
  protected void bind(InetAddress host, int port) throws IOException {
    int boundPort = port == 0 ? network.freePort() : port;
    if (isServer && !network.bind(boundPort, this)) throw new BindException("Address already in use");
    address = host;
    localport = boundPort;
  }

  @Override
  protected void listen(int max) {
    backlog = new ArrayDeque<>();
    maxBacklog = Math.max(1, max);
  }

  @Override
  protected void accept(SocketImpl accepted) throws IOException {
    long deadline = deadline();
    while (backlog.isEmpty()) {
      if (closed) throw new SocketException("Socket closed");
      if (run.clock.now() >= deadline) throw new SocketTimeoutException("Accept timed out");
      accepter = Thread.currentThread();
      park(deadline);
    }
    if (closed) throw new SocketException("Socket closed");
    ((SimulatedSocket) accepted).copyConnection(backlog.remove());
  }

  /** Copies the server's end of a connection to this socket, which replaces the given socket. */
  private void copyConnection(SimulatedSocket serverEnd) {
    address = serverEnd.address;
    port = serverEnd.port;
    localport = serverEnd.localport;
    domain = serverEnd.domain;
    inPipe = serverEnd.inPipe;
    outPipe = serverEnd.outPipe;
  }

  // ---- clients

  @Override
  protected void connect(String host, int port) throws IOException {
    connect(InetAddress.getByName(host), port);
  }

  @Override
  protected void connect(InetAddress host, int port) throws IOException {
    connect(new InetSocketAddress(host, port), 0);
  }

  @Override
  protected void connect(SocketAddress remote, int timeoutMillis) throws IOException {
    var target = (InetSocketAddress) remote;
    run.yieldAtSend();
    long latency = network.drawLatency();
    if (latency > 0) LockSupport.parkNanos(latency);
    var listener = network.serverAt(target.getPort());
    if (listener != null && network.isSeparated(domain, listener.domain)) {
      long deadline = run.clock.now() + 1_000_000L * (timeoutMillis == 0 ? CONNECT_TIMEOUT : timeoutMillis);
      while (network.isSeparated(domain, listener.domain) && run.clock.now() < deadline)
        park(Math.min(deadline, run.clock.now() + 1_000_000_000));
      if (network.isSeparated(domain, listener.domain))
        throw timeoutMillis == 0 ? new ConnectException("Connection timed out")
            : new SocketTimeoutException("Connect timed out");
    }
    if (listener == null || listener.closed || listener.backlog == null
        || listener.backlog.size() >= listener.maxBacklog)
      throw new ConnectException("Connection refused");
    address = target.getAddress();
    port = target.getPort();
    if (localport == 0) localport = network.freePort();
    listener.backlog.add(connectTo(listener));
    if (listener.accepter != null) LockSupport.unpark(listener.accepter);
  }

  /** Makes the two pipes of a connection, and returns the socket of the server's end. */
  private SimulatedSocket connectTo(SimulatedSocket listener) {
    var serverEnd = new SimulatedSocket(run, network, false);
    serverEnd.domain = listener.domain;
    serverEnd.address = address;
    serverEnd.localport = port;
    serverEnd.port = localport;
    inPipe = serverEnd.outPipe = new SocketPipe(run, network, serverEnd.domain, domain);
    outPipe = serverEnd.inPipe = new SocketPipe(run, network, domain, serverEnd.domain);
    return serverEnd;
  }

  // ---- streams

  @Override
  protected InputStream getInputStream() {
    return new InputStream() {
      @Override
      public int read() throws IOException {
        byte[] single = new byte[1];
        return read(single, 0, 1) < 0 ? -1 : single[0] & 255;
      }

      @Override
      public int read(byte[] bytes, int offset, int length) throws IOException {
        return inPipe.read(SimulatedSocket.this, bytes, offset, length);
      }

      @Override
      public int available() {
        return inPipe.available();
      }
    };
  }

  @Override
  protected OutputStream getOutputStream() {
    return new OutputStream() {
      @Override
      public void write(int value) throws IOException {
        write(new byte[] {(byte) value}, 0, 1);
      }

      @Override
      public void write(byte[] bytes, int offset, int length) throws IOException {
        if (closed) throw new SocketException("Socket closed");
        outPipe.write(SimulatedSocket.this, bytes, offset, length);
      }
    };
  }

  @Override
  protected int available() {
    return inPipe == null ? 0 : inPipe.available();
  }

  @Override
  protected void shutdownInput() {
    inPipe.end();
  }

  @Override
  protected void shutdownOutput() {
    outPipe.end();
  }

  /** Called for a fault: breaks the connection, for both sides. */
  void breakConnection() {
    inPipe.breakConnection();
    outPipe.breakConnection();
  }

  @Override
  protected void close() {
    if (closed) return;
    closed = true;
    if (isServer) network.unbind(localport, this);
    if (backlog != null) for (var connection : backlog) connection.close();
    if (accepter != null) LockSupport.unpark(accepter);
    if (inPipe == null) return;
    boolean isReset = !inPipe.isEmpty() || Integer.valueOf(0).equals(options.get(StandardSocketOptions.SO_LINGER));
    inPipe.breakConnection();
    if (isReset) outPipe.breakConnection();
    else outPipe.end();
  }

  // ---- options

  @Override
  protected boolean supportsUrgentData() {
    return false;
  }

  @Override
  public void setOption(int id, Object value) {
    if (id == SO_TIMEOUT) timeout = (int) value;
    if (id == SO_LINGER) options.put(StandardSocketOptions.SO_LINGER, value instanceof Integer seconds ? seconds : -1);
  }

  @Override
  public Object getOption(int id) {
    return switch (id) {
      case SO_TIMEOUT -> timeout;
      case TCP_NODELAY, SO_KEEPALIVE, SO_REUSEADDR, SO_OOBINLINE -> false;
      case SO_LINGER -> options.getOrDefault(StandardSocketOptions.SO_LINGER, -1);
      case SO_BINDADDR -> address;
      default -> BUFFER_SIZE;
    };
  }

  @Override
  protected <T> void setOption(SocketOption<T> option, T value) {
    options.put(option, value);
  }

  @Override
  protected <T> T getOption(SocketOption<T> option) {
    Object defaultValue = option.type() == Boolean.class ? (Object) false : BUFFER_SIZE;
    return option.type().cast(options.getOrDefault(option, defaultValue));
  }

  @Override
  protected Set<SocketOption<?>> supportedOptions() {
    return isServer
        ? Set.of(StandardSocketOptions.SO_REUSEADDR, StandardSocketOptions.SO_RCVBUF)
        : Set.of(StandardSocketOptions.SO_KEEPALIVE, StandardSocketOptions.TCP_NODELAY,
            StandardSocketOptions.SO_LINGER, StandardSocketOptions.SO_RCVBUF, StandardSocketOptions.SO_SNDBUF,
            StandardSocketOptions.SO_REUSEADDR, ExtendedSocketOptions.TCP_KEEPIDLE,
            ExtendedSocketOptions.TCP_KEEPINTERVAL, ExtendedSocketOptions.TCP_KEEPCOUNT);
  }
}
