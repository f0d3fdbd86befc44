package io.fibry.durable;

import io.fibry.codec.Codec;
import io.fibry.store.Store;
import io.fibry.text.Lines;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/**
 * The stored form of a waiting message.
 *
 * @param every a reminder that comes again and again
 * @param failed it waits for a human; once it is due, it is removed
 * @param context the text that the carriers of its sender wrote, or empty
 */
record Mail(byte[] message, Optional<Duration> every, Optional<Failed> failed, Optional<String> context) {
  /** Why, and when. */
  record Failed(String reason, Instant at) {}

  private static final Codec<Mail> CODEC = Codec.of(Mail.class);
  private static final int LONGEST_TEXT = 1_000;
  private static final String SENT = "m:";
  private static final int RADIX = 36; // of the time in an id
  private static final String REMINDER = "r:";
  private static final String ASIDE = "x:";

  static Mail of(byte[] message, String context) {
    return of(message, Optional.empty(), context);
  }

  static Mail of(byte[] message, Optional<Duration> every, String context) {
    return new Mail(message, every, Optional.empty(), context.isEmpty() ? Optional.empty() : Optional.of(context));
  }

  static Mail read(byte[] bytes) {
    return CODEC.decode(bytes);
  }

  /** It is to be handled. */
  Mail again() {
    return new Mail(message, Optional.empty(), Optional.empty(), context);
  }

  /** Whether a due message was parked and is being removed, so that its actor forgets it. */
  boolean isRemoved() {
    return failed.isPresent();
  }

  byte[] bytes() {
    return CODEC.encode(this);
  }

  /** A text of others that can be stored: in one line, in whole pairs, and not long. */
  static String brief(String text) {
    var start = text.length() > LONGEST_TEXT ? text.substring(0, LONGEST_TEXT) + ".." : text;
    return Lines.escaped(new String(start.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8));
  }

  // ---- ids

  static String sent(Instant now) {
    return SENT + Long.toString(now.toEpochMilli(), RADIX) + "." + UUID.randomUUID();
  }

  /** {@return when it was sent, by the sender's clock; empty if the id has no time} */
  static Optional<Instant> sentAt(String id) {
    String sent = before(id);
    int end = sent.indexOf('.');
    if (!sent.startsWith(SENT) || end < 0) return Optional.empty();
    try {
      return Optional.of(Instant.ofEpochMilli(Long.parseLong(sent, SENT.length(), end, RADIX)));
    } catch (NumberFormatException foreign) {
      return Optional.empty();
    }
  }

  static String reminder(String name) {
    return REMINDER + name;
  }

  static boolean isReminder(String id) {
    return id.startsWith(REMINDER);
  }

  /** It stays the same message when it is tried again, and takes no other's place. */
  static String aside(String unique) {
    return ASIDE + unique;
  }

  static boolean isAside(Store.PendingMessage message) {
    return message.id().startsWith(ASIDE) && message.due().equals(Store.PendingMessage.NEVER);
  }

  /** Returns the id that it had before it was parked. */
  static String before(String id) {
    return id.startsWith(ASIDE) ? id.substring(ASIDE.length()) : id;
  }
}
