package io.fibry.net.udp;

import io.fibry.text.Durations;
import io.fibry.time.Scheduler;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.LinkedHashMap;

/**
 * Limits the packets of each sender by a token bucket, which is stored as the time when it will be
 * full. If there are more than {@value #MAX_SENDERS} senders, the sender that has been silent for
 * the longest time is forgotten. Not thread-safe.
 */
final class SourceRateLimiter {
  static final int MAX_SENDERS = 4_096;

  private final Scheduler clock;
  private final long periodNanos;
  private final long nanosPerToken; // rounded down, so the rate is a little higher
  // when each sender's bucket will be full, by key; in the order of the last packets
  private final LinkedHashMap<Long, Long> fullTimes = new LinkedHashMap<>(16, 0.75f, true);

  SourceRateLimiter(Scheduler clock, int packets, Duration period) {
    this.clock = clock;
    this.periodNanos = Durations.nanos(period);
    this.nanosPerToken = Math.max(1, this.periodNanos / packets);
  }

  /** Returns whether one more packet is within the rate. If so, counts the packet. */
  boolean tryAdmit(InetAddress source) {
    long now = clock.nanoTime();
    long key = key(source);
    var fullTime = fullTimes.get(key); // moves the sender to the end of the order, even if the packet is refused
    long untilFull = fullTime == null ? 0 : Math.max(0, fullTime - now);
    if (untilFull + nanosPerToken > periodNanos) return false;
    fullTimes.put(key, now + untilFull + nanosPerToken);
    if (fullTimes.size() > MAX_SENDERS) fullTimes.pollFirstEntry();
    return true;
  }

  int size() {
    return fullTimes.size();
  }

  /**
   * Returns the key of a sender: the IPv4 address, or the first 64 bits of an IPv6 address, because
   * one sender has all addresses of an IPv6 network. The key of an IPv4 address begins with 32 one
   * bits, and no IPv6 network does.
   */
  static long key(InetAddress source) {
    var bytes = ByteBuffer.wrap(source.getAddress());
    return source instanceof Inet4Address ? 0xFFFF_FFFF_0000_0000L | bytes.getInt() & 0xFFFF_FFFFL : bytes.getLong();
  }
}
