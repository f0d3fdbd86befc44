package io.fibry.net;

import io.fibry.text.Durations;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Objects;

/**
 * The limits of a listener.
 *
 * @param address the address on which it listens
 * @param maxConnections how many connections may be open at once
 * @param handshake limit of the TLS handshake
 * @param idle limit of one read
 * @param total limit of a whole connection; may be {@link #NO_LIMIT}
 * @param write limit of writing {@value ClientSocket#CHUNK_SIZE} bytes
 * @param drain limit of conversations that finish when the listener ends
 * @param shortestLimit the shortest limit of a socket, from which the time between two checks
 * follows
 */
record ListenerLimits(InetAddress address, int maxConnections, Duration handshake, Duration idle, Duration total,
    Duration write, Duration drain, Duration shortestLimit) {
  static final Duration NO_LIMIT = Duration.ofSeconds(Long.MAX_VALUE);

  /** Returns the time between two checks of the limits. */
  Duration period() {
    return Duration.ofNanos(Math.clamp(Durations.nanos(shortestLimit) / 8, 10_000_000, 1_000_000_000));
  }

  static Duration positive(Duration limit, String name) {
    if (!Objects.requireNonNull(limit, "limit").isPositive()) throw new IllegalArgumentException(name + " limit of "
        + Durations.text(limit)
        + " leaves no time for anything; give more than zero, or ChronoUnit.FOREVER.getDuration() for none");
    return limit;
  }

  static Duration notNegative(Duration limit, String name) {
    if (Objects.requireNonNull(limit, "limit").isNegative())
      throw new IllegalArgumentException(
          name + " limit of " + Durations.text(limit) + " is negative; give zero or more");
    return limit;
  }

  static int atLeastOne(int number, String name) {
    if (number < 1)
      throw new IllegalArgumentException(name + " of " + number + " lets nothing through; give 1 or more");
    return number;
  }

  static int port(int port) {
    if (port < 0 || port > 65_535)
      throw new IllegalArgumentException("there is no port " + port + "; give 1 to 65535, or 0 for any free port");
    return port;
  }
}
