package io.fibry.net.socket;

import io.fibry.text.Durations;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import javax.net.ServerSocketFactory;

/**
 * The server socket of a listener, and its limits.
 *
 * @param address the address on which the listener listens
 * @param sockets makes the server socket
 * @param unixSocket the file on which the listener listens; empty if it listens on a port
 * @param maxConnections how many connections may be open at once
 * @param handshakeLimit how long the TLS handshake may take
 * @param idleLimit how long one read may wait
 * @param totalLimit how long a connection may last; may be {@link #NO_LIMIT}
 * @param writeLimit how long the write of {@value ClientSocket#CHUNK_SIZE} bytes may take
 * @param drainLimit how long conversations may take to finish when the listener ends
 * @param shortestLimit the shortest of the limits that are checked; determines the time between two
 * checks
 */
public record ListenerLimits(InetAddress address, ServerSocketFactory sockets, Optional<Path> unixSocket,
    int maxConnections, Duration handshakeLimit, Duration idleLimit, Duration totalLimit, Duration writeLimit,
    Duration drainLimit, Duration shortestLimit) {
  public static final Duration NO_LIMIT = Duration.ofSeconds(Long.MAX_VALUE);

  /** Returns the time between two checks of the limits. */
  Duration checkInterval() {
    return Duration.ofNanos(Math.clamp(Durations.nanos(shortestLimit) / 8, 10_000_000, 1_000_000_000));
  }

  public static Duration positive(Duration limit, String name) {
    if (!Objects.requireNonNull(limit, "limit").isPositive()) throw new IllegalArgumentException(name + " limit of "
        + Durations.text(limit)
        + " leaves no time for anything; give more than zero, or ChronoUnit.FOREVER.getDuration() for no limit");
    return limit;
  }

  public static Duration notNegative(Duration limit, String name) {
    return Durations.requireNotNegative(limit, "limit", name + " limit");
  }

  public static int atLeastOne(int number, String name) {
    if (number < 1)
      throw new IllegalArgumentException(name + " of " + number + " lets nothing through; give 1 or more");
    return number;
  }

  public static int checkedPort(int port) {
    if (port < 0 || port > 65_535)
      throw new IllegalArgumentException("there is no port " + port + "; give 1 to 65535, or 0 for any free port");
    return port;
  }
}
