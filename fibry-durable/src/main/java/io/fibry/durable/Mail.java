package io.fibry.durable;

import io.fibry.codec.Codec;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * What the store keeps of a message that waits.
 *
 * @param every a reminder that comes again and again
 * @param failed it waits for a human
 */
record Mail(byte[] message, Optional<Duration> every, Optional<Failed> failed) {
  /** Why, and when. */
  record Failed(String reason, Instant at) {}

  private static final Codec<Mail> CODEC = Codec.of(Mail.class);
  static final Instant NEVER = Instant.ofEpochMilli(Long.MAX_VALUE); // it is due

  private static final String SENT = "m:";
  private static final String REMINDER = "r:";
  private static final String ASIDE = "x:";

  static Mail of(byte[] message) {
    return new Mail(message, Optional.empty(), Optional.empty());
  }

  static Mail read(byte[] bytes) {
    return CODEC.decode(bytes);
  }

  byte[] bytes() {
    return CODEC.encode(this);
  }

  // ---- ids

  static String sent(String unique) {
    return SENT + unique;
  }

  static String reminder(String name) {
    return REMINDER + name;
  }

  static boolean isReminder(String id) {
    return id.startsWith(REMINDER);
  }

  static String aside(String unique) {
    return ASIDE + unique;
  }

  static boolean isAside(String id) {
    return id.startsWith(ASIDE);
  }
}
