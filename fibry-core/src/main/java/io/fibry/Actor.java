package io.fibry;

import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Handles messages one at a time, by calling its handler with each message. An actor is also an
 * executor, which runs a task between two messages. The method reference {@code actor::sendMessage}
 * can be used as a {@code Consumer}. Thread-safe.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="actor"}
 *
 * <p>Messages from one sender are handled in the order in which they were sent, unless the mailbox
 * has an order of its own. The handler sees all memory writes that the sender made before sending.
 *
 * @param <M> the type of the messages
 */
public interface Actor<M> extends Exitable, Executor {

  /**
   * Sends a message. Waits only if the mailbox is full and its overflow rule is {@code BLOCK}. If
   * the thread is interrupted while it waits, this method returns false and keeps the interrupt
   * flag set.
   *
   * @param message never null
   * @return true if the mailbox accepted the message. False if the mailbox refused the message or
   * the actor has ended; the message then becomes a dead letter
   * @throws AskCycleException if the wait could never end, for example because a handler sends to
   * the full mailbox of its own actor
   */
  boolean sendMessage(M message);

  /**
   * Sends several messages, which are handled in their order. No other message is handled between
   * them, unless the actor is on another node.
   *
   * @param block the messages; no message may be null
   * @return true if the mailbox accepted all messages, false if it accepted none
   * @throws UnsupportedOperationException if the mailbox has an order of its own
   * @throws IllegalArgumentException if there are more messages than the mailbox can hold
   */
  boolean sendMessages(List<? extends M> block);

  /**
   * Sends a request and waits for the answer, at most as long as the ask limit of the scope allows.
   *
   * <p>If the handler throws, this method throws the same exception, and adds the stack of the
   * asker to it as a suppressed exception. If there is no answer, it throws a
   * {@link RequestException}. If the thread is interrupted, it throws a
   * {@link java.util.concurrent.CancellationException} and keeps the interrupt flag set. The
   * exception of the handler may be checked, although {@code ask} declares none: see
   * {@link #declareThrown}.
   *
   * @param <Q> the type of the request
   * @param <R> the type of the answer
   * @param request never null
   * @return the answer
   */
  <Q extends M, R> R ask(Request<Q, R> request);

  /**
   * Sends a request and waits at most {@code limit} for the answer.
   *
   * @param <Q> the type of the request
   * @param <R> the type of the answer
   * @param request never null
   * @param limit how long to wait at most; more than zero
   * @return the answer
   * @see #ask(Request)
   */
  <Q extends M, R> R ask(Request<Q, R> request, Duration limit);

  /**
   * Sends a request and returns a future of the answer. If the caller completes or cancels the
   * future, the request is cancelled. A request that was still queued is then never handled, and
   * frees its capacity in the mailbox at once.
   *
   * <p>Code chained to this future never runs on the actor's thread while the actor handles a
   * message. Code chained to an {@code allOf} or {@code anyOf} of this future may run on that
   * thread. Neither kind of code runs on the thread that completes a stage given to
   * {@link ActorContext#replyWhen}.
   *
   * @param <Q> the type of the request
   * @param <R> the type of the answer
   * @param request never null
   * @return completes with the answer, with the exception that the handler threw, or with a
   * {@link RequestException}
   */
  <Q extends M, R> CompletableFuture<R> sendMessageReturn(Request<Q, R> request);

  /**
   * Sends a request and returns a future of the answer, which fails with an
   * {@link AskTimeoutException} when the limit is over. A request that is still queued at that time
   * is never handled.
   *
   * @param <Q> the type of the request
   * @param <R> the type of the answer
   * @param request never null
   * @param limit more than zero; also limits the wait for capacity in the mailbox
   * @return completes with the answer, or with the exception that {@code ask} would throw
   */
  <Q extends M, R> CompletableFuture<R> sendMessageReturn(Request<Q, R> request, Duration limit);

  /**
   * {@return a timer that sends a message later} The timer never waits for capacity: if a full
   * mailbox would make a sender wait, the timer's message is dropped. If the actor ends before the
   * message is sent, the message is a dead letter.
   *
   * @param message never null
   * @param delay from now; zero or more
   */
  Scheduler.Timer sendMessageLater(M message, Duration delay);

  /**
   * {@return a timer that sends a message later, and replaces the actor's timer with an equal key}
   * Use this method for alarms, such as a time-out. If the actor ends before the message is sent,
   * the message is discarded, and does not become a dead letter.
   *
   * @param key identifies the timer, compared by {@code equals}
   * @param message never null
   * @param delay from now; zero or more
   */
  Scheduler.Timer sendMessageLater(Object key, M message, Duration delay);

  /**
   * {@return a timer that sends a message at the end of each period, unless its previous message is
   * still queued}
   *
   * @param message never null
   * @param period the time between two messages; more than zero
   */
  Scheduler.Timer sendMessageEvery(M message, Duration period);

  /**
   * {@return a timer that sends a message at the end of each period, and replaces the actor's timer
   * with an equal key} It sends no message while its previous message is still queued.
   *
   * @param key identifies the timer, compared by {@code equals}
   * @param message never null
   * @param period the time between two messages; more than zero
   */
  Scheduler.Timer sendMessageEvery(Object key, M message, Duration period);

  /**
   * Queues a task, which runs on the actor's thread between two messages.
   *
   * @param task an exception that it throws counts as a failure of the actor's handler
   * @throws java.util.concurrent.RejectedExecutionException if the mailbox refuses the task or the
   * actor has ended
   */
  @Override
  void execute(Runnable task);

  @Override
  Actor<M> closeOnExit(AutoCloseable... resources);

  /**
   * Does nothing, but declares a checked exception, so that code around an {@code ask} can catch
   * the exception by name. {@code ask} throws the checked exceptions of the handler without
   * declaring them, so the compiler would reject the {@code catch} without this call.
   * {@snippet class="io.fibry.JavadocSnippetsTest" region="declareThrown"}
   *
   * @param <X> the type of the exception
   * @param type an exception that the handler may throw
   * @throws X never
   */
  static <X extends Exception> void declareThrown(Class<X> type) throws X {
    Objects.requireNonNull(type, "type");
  }
}
