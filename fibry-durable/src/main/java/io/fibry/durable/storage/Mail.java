package io.fibry.durable.storage;

import io.fibry.codec.Codec;
import io.fibry.store.spi.StoreBackend;
import io.fibry.text.Lines;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/**
 * The stored form of a waiting message.
 *
 * @param every the period of a repeating reminder; empty for other messages
 * @param failed why the message was parked; empty if it was not. A parked message is never due. If
 * a message with a failure is due, an operator has discarded it
 * @param context the text that the context propagators of its sender wrote; empty if none
 */
public record Mail(byte[] message, Optional<Duration> every, Optional<Failed> failed, Optional<String> context) {
  /** The reason and the time of a parking. */
  public record Failed(String reason, Instant at) {}

  private static final Codec<Mail> CODEC = Codec.of(Mail.class);
  // of a message whose bytes are not known, because its sender encodes it only for the store
  private static final Mail EMPTY = of(new byte[0], Optional.empty(), "");
  private static final int MAX_TEXT_LENGTH = 1_000;
  private static final String SENT_PREFIX = "m:";
  private static final int TIME_RADIX = 36; // radix of the time in a message id
  private static final String REMINDER_PREFIX = "r:";
  private static final String PARKED_PREFIX = "x:";

  public static Mail of(byte[] message, String context) {
    return message.length == 0 && context.isEmpty() ? EMPTY : of(message, Optional.empty(), context);
  }

  public static Mail of(byte[] message, Optional<Duration> every, String context) {
    return new Mail(message, every, Optional.empty(), context.isEmpty() ? Optional.empty() : Optional.of(context));
  }

  public static Mail read(byte[] bytes) {
    return CODEC.decode(bytes);
  }

  /** Returns the mail of a parked message that is to be handled again. */
  public Mail asRetried() {
    return new Mail(message, Optional.empty(), Optional.empty(), context);
  }

  /** Returns whether a due message was discarded, so that its actor must delete it. */
  public boolean isDiscarded() {
    return failed.isPresent();
  }

  public byte[] bytes() {
    return CODEC.encode(this);
  }

  /** Returns a text in a form that can be stored: one short line, without half surrogate pairs. */
  public static String brief(String text) {
    var shortened = text.length() > MAX_TEXT_LENGTH ? text.substring(0, MAX_TEXT_LENGTH) + ".." : text;
    return Lines.escaped(new String(shortened.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8));
  }

  // ---- ids

  public static String newMessageId(Instant now) {
    return SENT_PREFIX + Long.toString(now.toEpochMilli(), TIME_RADIX) + "." + UUID.randomUUID();
  }

  /** {@return when the message was sent, by the sender's clock; empty if the id has no time} */
  static Optional<Instant> sentAt(String id) {
    String original = originalId(id);
    int end = original.indexOf('.');
    if (!original.startsWith(SENT_PREFIX) || end < 0) return Optional.empty();
    try {
      return Optional.of(Instant.ofEpochMilli(Long.parseLong(original, SENT_PREFIX.length(), end, TIME_RADIX)));
    } catch (NumberFormatException noTime) {
      return Optional.empty();
    }
  }

  public static String reminderId(String name) {
    return REMINDER_PREFIX + name;
  }

  public static boolean isReminder(String id) {
    return id.startsWith(REMINDER_PREFIX);
  }

  /** Returns the id of a parked message, which no other message of the actor has. */
  public static String parkedId(String uniqueId) {
    return PARKED_PREFIX + uniqueId;
  }

  public static boolean isParked(StoreBackend.PendingMessage message) {
    return message.id().startsWith(PARKED_PREFIX) && message.due().equals(StoreBackend.PendingMessage.NEVER);
  }

  /** Returns the id of a message without the prefix of parked messages. */
  public static String originalId(String id) {
    return id.startsWith(PARKED_PREFIX) ? id.substring(PARKED_PREFIX.length()) : id;
  }
}
