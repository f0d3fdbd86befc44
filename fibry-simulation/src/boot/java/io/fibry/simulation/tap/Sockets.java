package io.fibry.simulation.tap;

import java.lang.invoke.MethodHandle;
import java.net.SocketImpl;

/** What is below {@link java.net.Socket} and {@link java.net.ServerSocket}. */
public final class Sockets {
  private static final MethodHandle REAL =
      Insides.function(SocketImpl.class, "createPlatformSocketImpl", SocketImpl.class, boolean.class);

  private Sockets() {}

  /** For the JDK's own method of this name. */
  public static SocketImpl createPlatformSocketImpl(boolean server) throws Throwable {
    var machine = Taps.machine();
    return machine == null ? (SocketImpl) REAL.invokeExact(server) : machine.socket(server);
  }
}
