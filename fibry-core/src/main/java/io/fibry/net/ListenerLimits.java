package io.fibry.net;

import io.fibry.text.Durations;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Objects;

/**
 * The limits of a listener.
 *
 * @param address where it listens
 * @param connections at once
 * @param handshake of TLS
 * @param idle for a read
 * @param total for a connection; perhaps {@link #NONE}
 * @param write for {@value ClientSocket#CHUNK_SIZE} bytes
 * @param drain for conversations, at the end
 * @param shortest of a socket
 */
record ListenerLimits(InetAddress address, int connections, Duration handshake, Duration idle, Duration total,
    Duration write, Duration drain, Duration shortest) {
  static final Duration NONE = Duration.ofSeconds(Long.MAX_VALUE);

  /** Between two checks. */
  Duration period() {
    return Duration.ofNanos(Math.clamp(Durations.nanos(shortest) / 8, 10_000_000, 1_000_000_000));
  }

  static Duration positive(Duration limit, String what) {
    if (!Objects.requireNonNull(limit, "limit").isPositive()) throw new IllegalArgumentException(what + " limit of "
        + Durations.text(limit)
        + " leaves no time for anything; give more than zero, or ChronoUnit.FOREVER.getDuration() for none");
    return limit;
  }

  static Duration notNegative(Duration limit, String what) {
    if (Objects.requireNonNull(limit, "limit").isNegative())
      throw new IllegalArgumentException(
          what + " limit of " + Durations.text(limit) + " is negative; give zero or more");
    return limit;
  }

  static int atLeastOne(int number, String what) {
    if (number < 1)
      throw new IllegalArgumentException(what + " of " + number + " lets nothing through; give 1 or more");
    return number;
  }

  static int port(int port) {
    if (port < 0 || port > 65_535)
      throw new IllegalArgumentException("there is no port " + port + "; give 1 to 65535, or 0 for any free port");
    return port;
  }
}
