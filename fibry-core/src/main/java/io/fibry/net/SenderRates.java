package io.fibry.net;

import io.fibry.time.Scheduler;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How much each address has sent of late: a bucket of tokens for each, as one number, when it will
 * be full. At most so many; the one that was silent for longest gives way, and should it come
 * again, its bucket is full. Not thread-safe.
 */
final class SenderRates {
  static final int MOST = 4_096;
  private static final long LONGEST = Long.MAX_VALUE / 4; // the sum of two is no overflow

  private final Scheduler clock;
  private final long period;
  // how long a token takes to come; the rest of the division makes the rate a little higher
  private final long each;
  private final Map<Long, Long> full = new LinkedHashMap<>(16, 0.75f, true) {
    private static final long serialVersionUID = 1;

    @Override
    protected boolean removeEldestEntry(Map.Entry<Long, Long> silent) {
      return size() > MOST;
    }
  };

  SenderRates(Scheduler clock, int packets, Duration period) {
    this.clock = clock;
    this.period = period.compareTo(Duration.ofNanos(LONGEST)) < 0 ? period.toNanos() : LONGEST;
    this.each = Math.max(1, this.period / packets);
  }

  /** Whether it may send one more. */
  boolean admits(InetAddress source) {
    long now = clock.nanoTime();
    long key = key(source);
    var before = full.get(key); // which makes it the latest, whatever the answer
    long left = before == null ? 0 : Math.max(0, before - now);
    if (left + each > period) return false;
    full.put(key, now + left + each);
    return true;
  }

  int size() {
    return full.size();
  }

  /**
   * Of version 6 the network, since who has an address has all 2^64 of them. No network begins like
   * the keys of version 4.
   */
  static long key(InetAddress source) {
    var bytes = ByteBuffer.wrap(source.getAddress());
    return source instanceof Inet4Address ? 0xFFFF_FFFF_0000_0000L | bytes.getInt() & 0xFFFF_FFFFL : bytes.getLong();
  }
}
