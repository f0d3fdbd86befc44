package io.fibry.durable;

import io.fibry.ActorContext;
import io.fibry.Handler;
import io.fibry.codec.Codec;
import java.time.Duration;
import java.util.concurrent.Callable;

/**
 * What a handler of a durable actor may do beside its work. Answers leave when the turn is stored,
 * and the turns before. Messages can be neither received nor stashed.
 *
 * @param <M> messages
 */
public interface DurableContext<M> extends ActorContext<M> {

  /** {@return the key of this actor; also later, and on other threads} */
  String key();

  /**
   * Sends a message as a part of this turn. If the turn is stored, the message is handled even if
   * the process ends before, and its own turn is stored once. If not, the message was never sent.
   * Messages from one actor to another keep their order. The store has the message until an actor
   * with this key is made here. Actors that are not durable are told {@link #afterCommit}.
   *
   * @param <N> messages of the other
   * @param to its kind
   * @param key its key
   * @param message a request gets no answer
   */
  <N> void sendMessage(Durable<N> to, String key, N message);

  /**
   * Sends this actor a message later, as a part of this turn. The reminder survives the process,
   * and wakes an actor that does not live. It comes at its time by the store's clock, or when the
   * process runs again; at most a minute late if the clock is set forward.
   *
   * @param name of the reminder, 1 to 512 bytes; replaces the one with this name
   * @param message the message
   * @param delay from now; more than zero, at most 100 years
   */
  void setReminder(String name, M message, Duration delay);

  /**
   * Sets a reminder that comes again and again. Reminders that came due while the process was down
   * come once.
   *
   * @param name of the reminder; replaces the one with this name
   * @param message the message
   * @param period more than zero, at most 100 years
   */
  void setRepeatingReminder(String name, M message, Duration period);

  /**
   * Takes a reminder back, as a part of this turn.
   *
   * @param name of the reminder; does nothing if there is none
   */
  void cancelReminder(String name);

  /**
   * Runs an effect elsewhere, and stores its result. When this message comes again because the
   * process ended, the step returns the stored result. A step that ran, but could not be stored,
   * runs again: {@link #idempotencyKey} tells others that it is the same.
   *
   * <p>It first waits until the turns before are stored, and afterwards until its result is.
   *
   * @param <R> result
   * @param name of the step, 1 to 512 bytes; the second one of a name is "name#2"
   * @param type of the result: a record, or a value of the JDK
   * @param effect the effect; it has no steps itself, and adds nothing to the turn
   * @return the value, never null
   * @throws IllegalStateException if this message could not come again: neither is it kept, nor
   * {@link Idempotent}
   * @throws StepMismatchException if the handler did another step here before
   * @throws StepFailedException if the effect throws
   * @throws Exception if it is interrupted, or the store fails
   */
  <R> R step(String name, Class<R> type, Callable<? extends R> effect) throws Exception;

  /**
   * Runs an effect, with a codec that may read results of an old form.
   *
   * @param <R> result
   * @param name of the step, 1 to 512 bytes; the second one of a name is "name#2"
   * @param codec of the result
   * @param effect the effect; it has no steps itself, and adds nothing to the turn
   * @return the value, never null
   * @throws Exception as the other one
   */
  <R> R step(String name, Codec<R> codec, Callable<? extends R> effect) throws Exception;

  /**
   * A text that is the same whenever this message comes again, and different for any other message:
   * a key by which others see that they know a call.
   *
   * @param name of a step
   * @return kind, key, message and step
   */
  String idempotencyKey(String name);

  /**
   * Waits, as a {@link #step}: after a restart, only for what is left.
   *
   * @param name of the step
   * @param time how long, by the store's clock; at most 100 years
   * @throws Exception if interrupted, or as {@code step}
   */
  void sleep(String name, Duration time) throws Exception;

  /**
   * Runs code when the turn is stored, on a thread of its own: at most once.
   *
   * @param task if it throws, that is logged
   */
  void afterCommit(Handler.Task task);

  /**
   * With this turn the state, the events before and of this turn, and the reminders are forgotten:
   * the next message finds the actor as it was at first. The store removes the events when all
   * views with a name have passed this turn, or at once if there are none; see {@link EventView}.
   * Messages that wait for it still come. One that is sent again, and is a
   * {@link Idempotent}, gets the answer of before; so does this very message.
   */
  void erase();
}
