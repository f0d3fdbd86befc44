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
  private static final int MAX_TEXT = 1_000;
  private static final String SENT_PREFIX = "m:";
  private static final int TIME_RADIX = 36; // of the time in an id
  private static final String REMINDER_PREFIX = "r:";
  private static final String PARKED_PREFIX = "x:";

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
  Mail asRetried() {
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
    var start = text.length() > MAX_TEXT ? text.substring(0, MAX_TEXT) + ".." : text;
    return Lines.escaped(new String(start.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8));
  }

  // ---- ids

  static String newMessageId(Instant now) {
    return SENT_PREFIX + Long.toString(now.toEpochMilli(), TIME_RADIX) + "." + UUID.randomUUID();
  }

  /** {@return when it was sent, by the sender's clock; empty if the id has no time} */
  static Optional<Instant> sentAt(String id) {
    String sent = originalId(id);
    int end = sent.indexOf('.');
    if (!sent.startsWith(SENT_PREFIX) || end < 0) return Optional.empty();
    try {
      return Optional.of(Instant.ofEpochMilli(Long.parseLong(sent, SENT_PREFIX.length(), end, TIME_RADIX)));
    } catch (NumberFormatException foreign) {
      return Optional.empty();
    }
  }

  static String reminderId(String name) {
    return REMINDER_PREFIX + name;
  }

  static boolean isReminder(String id) {
    return id.startsWith(REMINDER_PREFIX);
  }

  /** It stays the same message when it is tried again, and takes no other's place. */
  static String parkedId(String unique) {
    return PARKED_PREFIX + unique;
  }

  static boolean isParked(Store.PendingMessage message) {
    return message.id().startsWith(PARKED_PREFIX) && message.due().equals(Store.PendingMessage.NEVER);
  }

  /** Returns the id that it had before it was parked. */
  static String originalId(String id) {
    return id.startsWith(PARKED_PREFIX) ? id.substring(PARKED_PREFIX.length()) : id;
  }
}
