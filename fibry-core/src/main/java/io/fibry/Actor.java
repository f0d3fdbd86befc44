package io.fibry;

import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Takes messages of type {@code M} and handles them one at a time. As an executor it runs tasks in
 * turn with them; as a {@code Consumer} it is {@code actor::sendMessage}. Thread-safe.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="actor"}
 *
 * <p>What one sender sends is handled in the order it was sent, unless the mailbox has an order of
 * its own; what was written before sending is seen by the handler.
 *
 * @param <M> the messages
 */
public interface Actor<M> extends Exitable, Executor {

  /**
   * Hands over a message. Waits only where the mailbox says {@code BLOCK} and is full; interrupted
   * there, it answers false and keeps the flag.
   *
   * @param message never null
   * @return false if it was refused (full, or ended): it is a dead letter then
   * @throws AskCycleException where the wait for room could never end: a handler that sends to its
   * own full mailbox
   */
  boolean sendMessage(M message);

  /**
   * Hands over several, to be handled with nothing in between.
   *
   * @param block the messages, in order; none of them null
   * @return true: all were taken; false: none
   * @throws UnsupportedOperationException if the mailbox has an order of its own
   * @throws IllegalArgumentException if they are more than the mailbox can hold
   */
  boolean sendMessages(List<? extends M> block);

  /**
   * Sends a request and waits for the answer, at most as long as the scope says.
   *
   * <p>Throws what the handler threw, the very same object, with the asker's stack added to it as a
   * suppressed one; or a {@link RequestException} that says why there is no answer; or a
   * {@link java.util.concurrent.CancellationException} if the waiting thread is interrupted,
   * keeping the flag.
   *
   * @param <Q> the request
   * @param <R> its answer
   * @param request never null
   * @return the answer
   */
  <Q extends M, R> R ask(Request<Q, R> request);

  /**
   * Sends a request and waits for the answer, at most so long.
   *
   * @param <Q> the request
   * @param <R> its answer
   * @param request never null
   * @param limit how long at most
   * @return the answer
   * @see #ask(Request)
   */
  <Q extends M, R> R ask(Request<Q, R> request, Duration limit);

  /**
   * Sends a request. Completing the future from outside, in any way, cancels the request: if it
   * still waits it is never handled, and its place in a bounded mailbox is free at once.
   *
   * <p>What is chained to the future never runs on the actor's thread in its turn (behind
   * {@code allOf} and {@code anyOf} it may).
   *
   * @param <Q> the request
   * @param <R> its answer
   * @param request never null
   * @return completes with the answer, with what the handler threw, or with a
   * {@link RequestException}
   */
  <Q extends M, R> CompletableFuture<R> sendMessageReturn(Request<Q, R> request);

  /**
   * Sends the message later. It never waits for room: into a full mailbox that would block, it is
   * dropped. Pending timers end with their actor.
   *
   * @param message never null
   * @param delay from now
   * @return a hold on it
   */
  Scheduler.Timer sendMessageLater(M message, Duration delay);

  /**
   * Sends the message later; replaces the timer that has this key.
   *
   * @param key at most one timer of this actor has it
   * @param message never null
   * @param delay from now
   * @return a hold on it
   * @see #sendMessageLater(Object, Duration)
   */
  Scheduler.Timer sendMessageLater(Object key, M message, Duration delay);

  /**
   * Sends the message at the end of each period, unless the one before still waits.
   *
   * @param message never null
   * @param period from one to the next
   * @return a hold on it
   * @see #sendMessageLater(Object, Duration)
   */
  Scheduler.Timer sendMessageEvery(M message, Duration period);

  /**
   * Sends the message at the end of each period, unless the one before still waits; replaces the
   * timer that has this key.
   *
   * @param key at most one timer of this actor has it
   * @param message never null
   * @param period from one to the next
   * @return a hold on it
   * @see #sendMessageLater(Object, Duration)
   */
  Scheduler.Timer sendMessageEvery(Object key, M message, Duration period);

  /**
   * Runs the task on the actor's thread, in turn with its messages.
   *
   * @param task never null; what it throws is treated as a handler's failure
   * @throws java.util.concurrent.RejectedExecutionException where {@link #sendMessage} answers
   * false: who chained a future on it must hear
   */
  @Override
  void execute(Runnable task);

  @Override
  Actor<M> closeOnExit(AutoCloseable... resources);
}
