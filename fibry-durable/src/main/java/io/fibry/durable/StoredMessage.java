package io.fibry.durable;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.Request;
import io.fibry.codec.Codec;
import io.fibry.spi.BlockBuilder;
import io.fibry.store.Store;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * A message that waits at the store, until its actor handles it. In a mailbox it is a call to
 * handle all up to this one. Its answer is that of the message, if this is a request, or comes when
 * the turn is stored.
 *
 * @param id among the messages that wait for the actor
 * @param due as the store has it
 * @param isRead it was looked up: its turn may be stored already
 * @param stage present if a sender waits for the answer; tells that sender how far its actor has
 * come with the message
 * @param sentNanos when its sender began to store it, by {@link System#nanoTime}
 */
record StoredMessage<R>(String id, Instant due, Object message, Mail mail, boolean isRead,
    Optional<AtomicReference<RequestStage>> stage, long sentNanos)
    implements Request<StoredMessage<R>, R> {
  /** How far an actor has come with a request. */
  enum RequestStage {
    SENT, BEGUN,
    /** The handler threw. The store removes the request or puts it aside, perhaps for good. */
    FAILED
  }

  /** One that waits at the store. Throws what its codec throws. */
  static StoredMessage<Object> of(Store.PendingMessage one, Codec<?> messages) {
    var mail = Mail.read(one.body());
    Object message = mail.isRemoved() ? mail : messages.decode(mail.message());
    return new StoredMessage<>(one.id(), one.due(), message, mail, true, Optional.empty(), 0);
  }

  /**
   * Sets the context that the sender's carriers wrote, so that the actor's carriers capture it.
   */
  <A> A inContext(BlockBuilder<?> how, Actor<Object> to, Supplier<A> sending) {
    var answer = new ArrayList<A>(1);
    how.contextExecutor(to, message, mail.context().orElse("")).execute(() -> answer.add(sending.get()));
    return answer.getFirst();
  }

  /** Returns the message as one that was looked up at the store. */
  StoredMessage<R> asRead() {
    return new StoredMessage<>(id, due, message, mail, true, stage, sentNanos);
  }

  boolean hasAsker() {
    return stage.isPresent();
  }

  /**
   * Reminders of one name are different messages. A message that was parked is the same message as
   * before.
   */
  String uniqueId() {
    return Mail.isReminder(id) ? idPrefix(id) + due.toEpochMilli() : Mail.originalId(id);
  }

  /** When it was sent, by the sender's clock; of a reminder, when it is due. */
  Instant sentAt() {
    return Mail.sentAt(id).orElse(due);
  }

  /** Returns the common beginning of all messages with this id. */
  static String idPrefix(String id) {
    return id + "@";
  }

  @Override
  public String toString() {
    return mail.isRemoved() ? "a message that is removed" : message.toString();
  }
}
