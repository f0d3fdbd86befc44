package io.fibry.durable.storage;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.Request;
import io.fibry.codec.Codec;
import io.fibry.spi.BlockBuilder;
import io.fibry.store.spi.StoreBackend;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A message that waits at the store until its actor handles it. In a mailbox it is a request. If a
 * sender waits for the answer, the actor handles this message only, and the request gets that
 * answer. Otherwise the request makes the actor handle all queued stored messages up to and
 * including this one, and is answered when the turn is stored.
 *
 * @param id unique among the messages that wait for the actor
 * @param due when the message is due, as the store has it
 * @param isReadFromStore whether the message was read from the store, or counts as read because a
 * new life began. The store must then be asked whether the message still waits, because an earlier
 * life may have stored its turn
 * @param stage present if a sender waits for the answer; shows that sender how far the actor has
 * come with the message
 * @param sentNanos when the sender began to store the message, by {@link System#nanoTime}; 0 for a
 * message that a courier has read
 */
public record StoredMessage<R>(String id, Instant due, Object message, Mail mail, boolean isReadFromStore,
    Optional<AtomicReference<RequestStage>> stage, long sentNanos)
    implements Request<StoredMessage<R>, R> {
  /** How far an actor has come with a request. */
  public enum RequestStage {
    SENT, BEGUN,
    /** The handler threw, and the request is being deleted or parked. */
    FAILED
  }

  /** Returns a message that was read from the store. Throws the exceptions of the codec. */
  public static StoredMessage<Object> of(StoreBackend.PendingMessage pending, Codec<?> codec) {
    var mail = Mail.read(pending.body());
    Object message = mail.isDiscarded() ? mail : codec.decode(mail.message());
    return new StoredMessage<>(pending.id(), pending.due(), message, mail, true, Optional.empty(), 0);
  }

  /**
   * Restores the sender's context, which is stored with the message as text, and sends within it.
   * So the propagators of this actor's builder capture the sender's context.
   */
  public void runInContext(BlockBuilder<?> blockBuilder, Actor<Object> actor, Runnable sending) {
    blockBuilder.contextExecutor(actor, message, mail.context().orElse("")).execute(sending);
  }

  /** Returns the message, marked as read from the store. */
  public StoredMessage<R> asRead() {
    return new StoredMessage<>(id, due, message, mail, true, stage, sentNanos);
  }

  public boolean hasAsker() {
    return stage.isPresent();
  }

  /**
   * Returns an id that no other message of the actor has, also no earlier reminder with the same
   * name. A message that was parked has the same unique id as before.
   */
  public String uniqueId() {
    return Mail.isReminder(id) ? idPrefix(id) + due.toEpochMilli() : Mail.originalId(id);
  }

  /** Returns when the message was sent, by the sender's clock; for a reminder, its due time. */
  public Instant sentAt() {
    return Mail.sentAt(id).orElse(due);
  }

  /** Returns the common prefix of the unique ids of all reminders with this id. */
  public static String idPrefix(String id) {
    return id + "@";
  }

  @Override
  public String toString() {
    return mail.isDiscarded() ? "a discarded message" : message.toString();
  }
}
