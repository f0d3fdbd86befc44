package io.fibry.simulation;

import io.fibry.simulation.tap.SocketBase;
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
final class SimulatedSocket extends SocketBase {
  private static final int BUFFER = 8192;
  private static final int CONNECT_TIMEOUT = 120_000; // ms until a connect without a limit gives up
  private static final long NO_LIMIT = Long.MAX_VALUE;

  private final SimulationRun run;
  private final SimulatedNetwork network;
  private final boolean server;
  private final Map<SocketOption<?>, Object> options = new HashMap<>();
  private FailureDomain domain;
  private boolean closed;
  private int timeout; // in ms; 0 for none
  private @Nullable SocketPipe in; // the pipe from which this side reads
  private @Nullable SocketPipe out;
  private @Nullable ArrayDeque<SimulatedSocket> backlog; // of a server: the far ends that wait
  private int backlogLimit; // in it
  private @Nullable Thread accepter;

  SimulatedSocket(SimulationRun run, SimulatedNetwork network, boolean server) {
    this.run = run;
    this.network = network;
    this.server = server;
    this.domain = run.currentDomain();
    this.fd = new FileDescriptor();
  }

  FailureDomain domain() {
    return domain;
  }

  boolean isClosed() {
    return closed;
  }

  /** Returns the end of the time-out by the run's clock. */
  long timeLimit() {
    return timeout == 0 ? NO_LIMIT : run.clock.now() + timeout * 1_000_000L;
  }

  /** An interrupt of a virtual thread closes the socket, as with sockets of the JDK. */
  void park(long until) throws IOException {
    if (until > 0 && until < NO_LIMIT) LockSupport.parkNanos(until - run.clock.now());
    else LockSupport.park();
    if (!Thread.currentThread().isInterrupted()) return;
    close();
    throw new SocketException("Closed by interrupt");
  }

  // ---- servers

  @Override
  protected void bind(InetAddress host, int port) throws IOException {
    int free = port == 0 ? network.freePort() : port;
    if (server && !network.bind(free, this)) throw new BindException("Address already in use");
    address = host;
    localport = free;
  }

  @Override
  protected void listen(int max) {
    backlog = new ArrayDeque<>();
    backlogLimit = Math.max(1, max);
  }

  @Override
  protected void accept(SocketImpl accepted) throws IOException {
    long limit = timeLimit();
    while (backlog.isEmpty()) {
      if (closed) throw new SocketException("Socket closed");
      if (run.clock.now() >= limit) throw new SocketTimeoutException("Accept timed out");
      accepter = Thread.currentThread();
      park(limit);
    }
    if (closed) throw new SocketException("Socket closed");
    ((SimulatedSocket) accepted).copyConnection(backlog.remove());
  }

  private void copyConnection(SimulatedSocket far) {
    address = far.address;
    port = far.port;
    localport = far.localport;
    domain = far.domain;
    in = far.in;
    out = far.out;
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
  protected void connect(SocketAddress to, int limit) throws IOException {
    var where = (InetSocketAddress) to;
    run.yieldPoint();
    long latency = network.withLatency();
    if (latency > 0) LockSupport.parkNanos(latency);
    var there = network.server(where.getPort());
    if (there != null && network.isParted(domain, there.domain)) {
      long end = run.clock.now() + 1_000_000L * (limit == 0 ? CONNECT_TIMEOUT : limit);
      while (network.isParted(domain, there.domain) && run.clock.now() < end)
        park(Math.min(end, run.clock.now() + 1_000_000_000));
      if (network.isParted(domain, there.domain))
        throw limit == 0 ? new ConnectException("Connection timed out")
            : new SocketTimeoutException("Connect timed out");
    }
    if (there == null || there.closed || there.backlog == null || there.backlog.size() >= there.backlogLimit)
      throw new ConnectException("Connection refused");
    address = where.getAddress();
    port = where.getPort();
    if (localport == 0) localport = network.freePort();
    there.backlog.add(farEnd(there));
    if (there.accepter != null) LockSupport.unpark(there.accepter);
  }

  private SimulatedSocket farEnd(SimulatedSocket of) {
    var far = new SimulatedSocket(run, network, false);
    far.domain = of.domain;
    far.address = address;
    far.localport = port;
    far.port = localport;
    in = far.out = new SocketPipe(run, network, far.domain, domain);
    out = far.in = new SocketPipe(run, network, domain, far.domain);
    return far;
  }

  // ---- bytes

  @Override
  protected InputStream getInputStream() {
    return new InputStream() {
      @Override
      public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 255;
      }

      @Override
      public int read(byte[] bytes, int at, int length) throws IOException {
        return in.read(SimulatedSocket.this, bytes, at, length);
      }

      @Override
      public int available() {
        return in.available();
      }
    };
  }

  @Override
  protected OutputStream getOutputStream() {
    return new OutputStream() {
      @Override
      public void write(int one) throws IOException {
        write(new byte[] {(byte) one}, 0, 1);
      }

      @Override
      public void write(byte[] bytes, int at, int length) throws IOException {
        if (closed) throw new SocketException("Socket closed");
        out.write(SimulatedSocket.this, bytes, at, length);
      }
    };
  }

  @Override
  protected int available() {
    return in == null ? 0 : in.available();
  }

  @Override
  protected void shutdownInput() {
    in.end();
  }

  @Override
  protected void shutdownOutput() {
    out.end();
  }

  /** A fault: the connection is gone, for both. */
  void breakOff() {
    in.breakOff();
    out.breakOff();
  }

  @Override
  protected void close() {
    if (closed) return;
    closed = true;
    if (server) network.unbind(localport, this);
    if (backlog != null) for (var waiting : backlog) waiting.close();
    if (accepter != null) LockSupport.unpark(accepter);
    if (in == null) return;
    boolean unread = !in.isEmpty() || Integer.valueOf(0).equals(options.get(StandardSocketOptions.SO_LINGER));
    in.breakOff();
    if (unread) out.breakOff();
    else out.end();
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
      default -> BUFFER;
    };
  }

  @Override
  protected <T> void setOption(SocketOption<T> option, T value) {
    options.put(option, value);
  }

  @Override
  protected <T> T getOption(SocketOption<T> option) {
    Object unset = option.type() == Boolean.class ? (Object) false : BUFFER;
    return option.type().cast(options.getOrDefault(option, unset));
  }

  @Override
  protected Set<SocketOption<?>> supportedOptions() {
    return server
        ? Set.of(StandardSocketOptions.SO_REUSEADDR, StandardSocketOptions.SO_RCVBUF)
        : Set.of(StandardSocketOptions.SO_KEEPALIVE, StandardSocketOptions.TCP_NODELAY,
            StandardSocketOptions.SO_LINGER, StandardSocketOptions.SO_RCVBUF, StandardSocketOptions.SO_SNDBUF,
            StandardSocketOptions.SO_REUSEADDR, ExtendedSocketOptions.TCP_KEEPIDLE,
            ExtendedSocketOptions.TCP_KEEPINTERVAL, ExtendedSocketOptions.TCP_KEEPCOUNT);
  }
}
