package io.fibry.durable;

import io.fibry.ActorContext;
import io.fibry.Handler;
import io.fibry.codec.Codec;
import java.time.Duration;
import java.util.concurrent.Callable;

/**
 * The context of a handler of a durable actor. Answers are sent when this turn and all turns before
 * it are stored. {@code receive} and {@code stash} are not supported.
 *
 * @param <M> messages
 */
public interface DurableContext<M> extends ActorContext<M> {

  /** {@return the key of this actor} May be called at any time, on any thread. */
  String key();

  /**
   * Sends a message as a part of this turn. If the turn is stored, the message is handled even if
   * the process ends first, and the receiver's turn is stored once. If this turn is not stored, the
   * message is not sent. Messages from one actor to another keep their order. The message waits in
   * the store until the receiver is made. Use {@link #afterCommit} to send to actors that are not
   * durable.
   *
   * @param <N> messages of the receiver
   * @param to kind of the receiver
   * @param key key of the receiver
   * @param message the message; if it is a request, it gets no answer
   */
  <N> void sendMessage(Durable<N> to, String key, N message);

  /**
   * Sets a reminder as a part of this turn: a message that this actor gets after the delay. The
   * reminder survives the process, and loads the actor if it is not loaded. It comes at its time by
   * the store's clock. If no process runs then, it comes when the next process runs. If the clock
   * is set forward, it may come up to a minute late.
   *
   * @param name of the reminder, 1 to 512 bytes; replaces the reminder with this name
   * @param message the message
   * @param delay from now; more than zero, at most 100 years
   */
  void setReminder(String name, M message, Duration delay);

  /**
   * Sets a reminder that comes repeatedly. If it was due several times while the process was down,
   * it comes once afterwards.
   *
   * @param name of the reminder; replaces the reminder with this name
   * @param message the message
   * @param period more than zero, at most 100 years
   */
  void setRepeatingReminder(String name, M message, Duration period);

  /**
   * Cancels a reminder, as a part of this turn.
   *
   * @param name of the reminder; does nothing if no reminder has this name
   */
  void cancelReminder(String name);

  /**
   * Runs an effect outside of the store, and stores its result. If this message is delivered again
   * because the process ended, the step returns the stored result. A step runs again if its result
   * could not be stored. {@link #idempotencyKey} lets the called system recognize the repetition.
   *
   * <p>Before the effect, a step waits until the earlier turns are stored. After the effect, it
   * waits until its result is stored.
   *
   * <p>If the effect throws, the failure is remembered as a result is. A step can also fail because
   * its thread was interrupted, a call was cancelled, an actor has ended, the store failed, or
   * memory ran out. Such a failure is not remembered: each later step throws it again at once, so
   * that the message is handled again.
   *
   * @param <R> result
   * @param name of the step, 1 to 512 bytes; the second step with a name is stored as "name#2"
   * @param type of the result: a record, or a value of the JDK
   * @param effect the effect; it must not run other steps or add anything to the turn
   * @return the result, never null
   * @throws IllegalStateException if this message is neither stored nor {@link Idempotent}: after
   * a crash it would not be delivered again, so a stored result could not be used
   * @throws StepMismatchException if the handler ran another step at this point when it handled the
   * message before
   * @throws StepFailedException if the effect throws
   * @throws Exception if the step, or an earlier step of this attempt, failed for one of the other
   * reasons above
   */
  <R> R step(String name, Class<R> type, Callable<? extends R> effect) throws Exception;

  /**
   * Runs an effect as {@link #step(String, Class, Callable)} does, with a codec that may read
   * results of an old form.
   *
   * @param <R> result
   * @param name of the step, 1 to 512 bytes; the second step with a name is stored as "name#2"
   * @param codec of the result
   * @param effect the effect; it must not run other steps or add anything to the turn
   * @return the result, never null
   * @throws Exception as {@link #step(String, Class, Callable)} throws
   */
  <R> R step(String name, Codec<R> codec, Callable<? extends R> effect) throws Exception;

  /**
   * Returns a text that is the same whenever this message is delivered again, and different for any
   * other message. Give it to a called system, which can then recognize a repeated call.
   *
   * @param name of a step
   * @return kind, key, message and step, separated by slashes
   */
  String idempotencyKey(String name);

  /**
   * Waits for a time. The wait is a {@link #step}. If the process ends during the wait, the handler
   * waits only for the remaining time when the message is delivered again.
   *
   * <p>Meanwhile the actor and the stack of the handler stay in memory, about 8 kB. If very many
   * actors wait, let the handler return, and continue by {@link #setReminder}.
   *
   * @param name of the step
   * @param time how long, by the store's clock; at most 100 years
   * @throws Exception if the thread is interrupted, or as {@code step} throws
   */
  void sleep(String name, Duration time) throws Exception;

  /**
   * Runs code when the turn is stored, on a thread of its own. If the process ends before the code
   * runs, the code is never run.
   *
   * @param task the code; if it throws, the failure is logged
   */
  void afterCommit(Handler.Task task);

  /**
   * Erases the actor with this turn: its state, its reminders and its events, also the events of
   * this turn. The next message finds the initial state. The store removes the events when all
   * views with a name have read this turn, or at once if there are no such views; see
   * {@link EventView}. Messages that wait for the actor are still handled. Answers to
   * {@link Idempotent} messages stay remembered, also the answer to this message.
   */
  void erase();
}
