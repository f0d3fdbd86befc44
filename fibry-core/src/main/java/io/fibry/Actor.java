package io.fibry;

import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Handles messages one at a time. It is an executor, whose tasks run in turn with the messages. Its
 * method {@code actor::sendMessage} is a {@code Consumer}. Thread-safe.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="actor"}
 *
 * <p>Messages from one sender are handled in order, unless the mailbox has its own. The handler
 * sees what the sender wrote before sending.
 *
 * @param <M> messages
 */
public interface Actor<M> extends Exitable, Executor {

  /**
   * Sends a message. Waits only for a full mailbox that says {@code BLOCK}; if interrupted, returns
   * false and keeps the flag.
   *
   * @param message never null
   * @return false if refused, full or ended: it is then a dead letter
   * @throws AskCycleException if the wait could never end, as for a handler's own full mailbox
   */
  boolean sendMessage(M message);

  /**
   * Sends messages to handle in order, with nothing in between.
   *
   * @param block no message may be null
   * @return true if all were taken, false if none
   * @throws UnsupportedOperationException if the mailbox has its own order
   * @throws IllegalArgumentException if the mailbox can never hold them
   */
  boolean sendMessages(List<? extends M> block);

  /**
   * Sends a request and waits for the answer, at most for the scope's ask limit.
   *
   * <p>Throws the exception that the handler threw, with the stack of the asker added as
   * suppressed, or a {@link RequestException} if there is no answer. An interrupt throws a
   * {@link java.util.concurrent.CancellationException} and keeps the flag. The handler may throw a
   * checked exception, although {@code ask} declares none: see {@link #declareThrown}.
   *
   * @param <Q> request
   * @param <R> answer
   * @param request never null
   * @return the answer
   */
  <Q extends M, R> R ask(Request<Q, R> request);

  /**
   * Sends a request and waits at most {@code limit} for the answer.
   *
   * @param <Q> request
   * @param <R> answer
   * @param request never null
   * @param limit how long at most
   * @return the answer
   * @see #ask(Request)
   */
  <Q extends M, R> R ask(Request<Q, R> request, Duration limit);

  /**
   * Sends a request. Completing the future from outside, in any way, cancels it: if still queued,
   * it is never handled, and its place in the mailbox is free at once.
   *
   * <p>Stages chained to the future never run on the actor's thread during its turn; behind
   * {@code allOf} and {@code anyOf} they may. They never run on a thread that keeps a promise.
   *
   * @param <Q> request
   * @param <R> answer
   * @param request never null
   * @return completes with the answer, with the exception that the handler threw, or with a
   * {@link RequestException}
   */
  <Q extends M, R> CompletableFuture<R> sendMessageReturn(Request<Q, R> request);

  /**
   * Sends a request whose future fails with an {@link AskTimeoutException} after a time. If it is
   * still queued then, it is never handled.
   *
   * @param <Q> request
   * @param <R> answer
   * @param request never null
   * @param limit more than zero; also for room in the mailbox
   * @return completes with the answer, or with what {@code ask} would throw
   */
  <Q extends M, R> CompletableFuture<R> sendMessageReturn(Request<Q, R> request, Duration limit);

  /**
   * {@return a timer that sends a message later} It never waits for room: a full mailbox that would
   * block drops it. If the actor ends first, the message is a dead letter.
   *
   * @param message never null
   * @param delay from now
   */
  Scheduler.Timer sendMessageLater(M message, Duration delay);

  /**
   * {@return a timer that sends a message later, and replaces the one with this key} It is an
   * alarm, such as a time-out, and ends with the actor.
   *
   * @param key names the timer
   * @param message never null
   * @param delay from now
   */
  Scheduler.Timer sendMessageLater(Object key, M message, Duration delay);

  /**
   * {@return a timer that sends a message at the end of each period, unless the previous one is
   * still queued}
   *
   * @param message never null
   * @param period between messages
   */
  Scheduler.Timer sendMessageEvery(M message, Duration period);

  /**
   * {@return a timer as from {@link #sendMessageEvery(Object, Duration)}, which replaces the one
   * with this key}
   *
   * @param key names the timer
   * @param message never null
   * @param period between messages
   */
  Scheduler.Timer sendMessageEvery(Object key, M message, Duration period);

  /**
   * Runs a task on the actor's thread, in turn with its messages.
   *
   * @param task if it throws, the handler has failed
   * @throws java.util.concurrent.RejectedExecutionException where {@link #sendMessage} returns
   * false
   */
  @Override
  void execute(Runnable task);

  @Override
  Actor<M> closeOnExit(AutoCloseable... resources);

  /**
   * Does nothing, but declares an exception, so that it can be caught by name around an
   * {@code ask}. An {@code ask} throws whatever the handler threw, and the compiler knows of no
   * checked exceptions there.
   * {@snippet class="io.fibry.JavadocSnippetsTest" region="declareThrown"}
   *
   * @param <X> its type
   * @param type of what a handler may throw
   * @throws X never
   */
  static <X extends Exception> void declareThrown(Class<X> type) throws X {
    Objects.requireNonNull(type, "type");
  }
}
