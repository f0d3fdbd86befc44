package io.fibry.net;

import java.net.InetAddress;
import java.time.Duration;
import java.util.Objects;

/**
 * What every listener is limited by, whatever is spoken there.
 *
 * @param address where it listens
 * @param connections how many at once
 * @param idle how long a client may say nothing while it is read from
 * @param total how long a connection may last; {@link #NONE}
 * @param write how long a client may take {@value ClientSocket#PIECE} bytes at most
 * @param drain how long an end waits for conversations
 * @param shortest the shortest limit that is ever set on a link: the watch looks eight times as
 * often
 */
record ListenerLimits(InetAddress address, int connections, Duration idle, Duration total, Duration write,
    Duration drain,
    Duration shortest) {
  static final Duration NONE = Duration.ofSeconds(Long.MAX_VALUE);
  private static final long LONGEST = Long.MAX_VALUE / 2; // ns: a sum with it can still be compared

  /** How often to look. */
  Duration period() {
    long eighth = nanos(shortest) / 8;
    return Duration.ofNanos(Math.clamp(eighth, 10_000_000, 1_000_000_000));
  }

  static long nanos(Duration limit) {
    return limit.compareTo(Duration.ofNanos(LONGEST)) < 0 ? limit.toNanos() : LONGEST;
  }

  static Duration min(Duration one, Duration other) {
    return one.compareTo(other) <= 0 ? one : other;
  }

  // ---- how options say that a value is none

  static Duration positive(Duration limit, String what) {
    if (!Objects.requireNonNull(limit, "limit").isPositive()) throw new IllegalArgumentException(what + " limit of "
        + limit + " leaves no time for anything; give more than zero, or ChronoUnit.FOREVER.getDuration() for none");
    return limit;
  }

  static Duration notNegative(Duration limit, String what) {
    if (Objects.requireNonNull(limit, "limit").isNegative())
      throw new IllegalArgumentException(what + " limit of " + limit + " lies in the past; give zero or more");
    return limit;
  }

  static int atLeastOne(int number, String what) {
    if (number < 1) throw new IllegalArgumentException(what + " of " + number + " let nothing through; give 1 or more");
    return number;
  }

  static int port(int port) {
    if (port < 0 || port > 65_535)
      throw new IllegalArgumentException("there is no port " + port + "; give 1 to 65535, or 0 for any that is free");
    return port;
  }
}
