package io.fibry.simulation.tap;

import java.lang.invoke.MethodHandle;
import java.net.DatagramSocket;
import java.net.SocketAddress;
import java.net.SocketImpl;
import java.nio.channels.spi.AsynchronousChannelProvider;
import java.nio.channels.spi.SelectorProvider;

/**
 * Redirected calls that open sockets. A {@link java.net.Socket} and a {@link java.net.ServerSocket}
 * get an implementation in memory. Simulated threads cannot open sockets of other kinds, because
 * these are real, and no seed decides how long a thread waits for them.
 */
public final class SocketTap {
  private static final MethodHandle STREAM =
      JdkInternals.staticMethod(SocketImpl.class, "createPlatformSocketImpl", SocketImpl.class, boolean.class);
  private static final MethodHandle DATAGRAM =
      JdkInternals.staticMethod(DatagramSocket.class, "createDelegate", DatagramSocket.class, SocketAddress.class,
          Class.class);

  private SocketTap() {}

  /** Replaces the JDK's method of this name, which makes the implementation of a TCP socket. */
  public static SocketImpl createPlatformSocketImpl(boolean server) throws Throwable {
    var machine = MachineLookup.machine();
    return machine == null ? (SocketImpl) STREAM.invokeExact(server) : machine.socket(server);
  }

  /** Replaces the JDK's method of this name, which makes the implementation of a UDP socket. */
  public static DatagramSocket createDelegate(SocketAddress address, Class<?> type) throws Throwable {
    refuseIfSimulated("a datagram socket");
    return (DatagramSocket) DATAGRAM.invokeExact(address, type);
  }

  /** Replaces {@link SelectorProvider#provider}, the factory of channels and selectors. */
  public static SelectorProvider selectors() {
    refuseIfSimulated("a channel or selector of java.nio");
    return SelectorProvider.provider();
  }

  /**
   * Replaces {@link AsynchronousChannelProvider#provider}, the factory of asynchronous channels.
   */
  public static AsynchronousChannelProvider channels() {
    refuseIfSimulated("an asynchronous channel of java.nio");
    return AsynchronousChannelProvider.provider();
  }

  private static void refuseIfSimulated(String kind) {
    if (MachineLookup.machine() != null) throw MachineLookup.unsupported("opens " + kind,
        "which is real, so no seed decides when it is ready; use java.net.Socket, or keep it out of the simulation");
  }
}
