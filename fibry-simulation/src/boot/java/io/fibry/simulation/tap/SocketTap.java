package io.fibry.simulation.tap;

import java.lang.invoke.MethodHandle;
import java.net.DatagramSocket;
import java.net.SocketAddress;
import java.net.SocketImpl;
import java.nio.channels.spi.AsynchronousChannelProvider;
import java.nio.channels.spi.SelectorProvider;

/**
 * The implementation below {@link java.net.Socket} and {@link java.net.ServerSocket}. Sockets of
 * other kinds are real, and wait for what no seed decides, so simulated threads cannot open them.
 */
public final class SocketTap {
  private static final MethodHandle STREAM =
      JdkInternals.function(SocketImpl.class, "createPlatformSocketImpl", SocketImpl.class, boolean.class);
  private static final MethodHandle DATAGRAM =
      JdkInternals.function(DatagramSocket.class, "createDelegate", DatagramSocket.class, SocketAddress.class,
          Class.class);

  private SocketTap() {}

  /** For the JDK's own method of this name. */
  public static SocketImpl createPlatformSocketImpl(boolean server) throws Throwable {
    var machine = MachineLookup.machine();
    return machine == null ? (SocketImpl) STREAM.invokeExact(server) : machine.socket(server);
  }

  /** For the JDK's own method of this name. */
  public static DatagramSocket createDelegate(SocketAddress address, Class<?> type) throws Throwable {
    check("a datagram socket");
    return (DatagramSocket) DATAGRAM.invokeExact(address, type);
  }

  /** Returns the provider that makes channels and selectors. */
  public static SelectorProvider selectors() {
    check("a channel or selector of java.nio");
    return SelectorProvider.provider();
  }

  /** Returns the provider that makes asynchronous channels. */
  public static AsynchronousChannelProvider channels() {
    check("an asynchronous channel of java.nio");
    return AsynchronousChannelProvider.provider();
  }

  private static void check(String what) {
    if (MachineLookup.machine() != null) throw MachineLookup.refused("opens " + what,
        "which is real, and waits for what no seed decides; use java.net.Socket, or keep it out of the simulation");
  }
}
