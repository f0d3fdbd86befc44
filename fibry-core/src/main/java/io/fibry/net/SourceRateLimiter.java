package io.fibry.net;

import io.fibry.text.Durations;
import io.fibry.time.Scheduler;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.LinkedHashMap;

/**
 * Token buckets of addresses, each kept as the time when it will be full. Above {@value #MAX}
 * senders, the sender that was silent for longest is forgotten. Not thread-safe.
 */
final class SourceRateLimiter {
  static final int MAX = 4_096;

  private final Scheduler clock;
  private final long period;
  private final long perToken; // ns; rounded down, so the rate is a little higher
  private final LinkedHashMap<Long, Long> fullAt = new LinkedHashMap<>(16, 0.75f, true); // the latest last

  SourceRateLimiter(Scheduler clock, int packets, Duration period) {
    this.clock = clock;
    this.period = Durations.nanos(period);
    this.perToken = Math.max(1, this.period / packets);
  }

  /** Whether one more packet is within the rate. */
  boolean tryAdmit(InetAddress source) {
    long now = clock.nanoTime();
    long key = key(source);
    var before = fullAt.get(key); // makes it the latest, admitted or not
    long missing = before == null ? 0 : Math.max(0, before - now);
    if (missing + perToken > period) return false;
    fullAt.put(key, now + missing + perToken);
    if (fullAt.size() > MAX) fullAt.pollFirstEntry();
    return true;
  }

  int size() {
    return fullAt.size();
  }

  /**
   * Returns the network of an IPv6 address, because one sender has all addresses of its network. No
   * network begins like a key of IPv4.
   */
  static long key(InetAddress source) {
    var bytes = ByteBuffer.wrap(source.getAddress());
    return source instanceof Inet4Address ? 0xFFFF_FFFF_0000_0000L | bytes.getInt() & 0xFFFF_FFFFL : bytes.getLong();
  }
}
