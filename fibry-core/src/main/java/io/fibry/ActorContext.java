package io.fibry;

import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Gives a handler access to its actor and to the message that is being handled. A context may be
 * used only on the handler's thread, and only until the handler returns. Any other call throws
 * {@link IllegalStateException}, also a call after a kill has cut the actor off.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="context"}
 *
 * @param <M> the type of the messages
 */
public interface ActorContext<M> {

  /**
   * {@return the actor} Unlike the context, the actor may be stored and passed to other threads.
   */
  Actor<M> self();

  /**
   * Replies to a request that the handler was given. The request is found by object identity. If
   * the handler was given the same object twice, the first unanswered request gets the answer. If
   * the asker no longer waits, the answer is discarded.
   *
   * @param <R> the type of the answer
   * @param request the message
   * @param value the answer, never null
   * @throws IllegalArgumentException if the handler was not given this object as a request, or has
   * answered it
   */
  <R> void reply(Request<?, R> request, R value);

  /**
   * Promises an answer: the request completes when the stage completes, with the value or the
   * failure of the stage. Until then the actor handles other messages. If the actor ends before the
   * stage completes, the request fails with {@link ActorStoppedException}. Code that the asker has
   * chained to the answer never runs on the thread that completes the stage.
   *
   * @param <R> the type of the answer
   * @param request the message
   * @param value completes with the answer
   * @throws IllegalArgumentException if the handler was not given this object as a request, or has
   * answered it
   */
  <R> void replyWhen(Request<?, R> request, CompletionStage<? extends R> value);

  /**
   * Promises an answer, as {@link #replyWhen(Request, CompletionStage)} does, and calls
   * {@code onAbandoned} if the asker stops waiting before the stage completes. An asker stops
   * waiting when it is interrupted, when its limit is over, or when it cancels the future. A
   * durable actor ignores {@code onAbandoned}, because its turn is stored in any case.
   *
   * @param <R> the type of the answer
   * @param request the message
   * @param value completes with the answer
   * @param onAbandoned may end work that was begun for the request; runs at most once, on a thread
   * of its own
   * @throws IllegalArgumentException if the handler was not given this object as a request, or has
   * answered it
   */
  default <R> void replyWhen(Request<?, R> request, CompletionStage<? extends R> value, Runnable onAbandoned) {
    replyWhen(request, value);
  }

  /**
   * Replies to a request with an exception, which does not count as a failure of the actor.
   *
   * @param request the message
   * @param failure the exception that the asker gets
   * @throws IllegalArgumentException if the handler was not given this object as a request, or has
   * answered it
   */
  void replyFailure(Request<?, ?> request, Throwable failure);

  /**
   * {@return the scheduler of the actor's scope, which is a clock, too} A handler that takes the
   * time from it, or sleeps by {@link Scheduler#sleepUntil}, can be tested with a
   * {@link io.fibry.time.ManualScheduler}.
   */
  Scheduler scheduler();

  /** {@return whether the current message is a request whose asker no longer waits} */
  boolean isCancelled();

  /**
   * {@return how long the asker of the current message still waits, or empty if the asker has no
   * limit or the message is not a request} Use this time as the limit of calls to other libraries.
   * An {@code ask} in the handler applies this limit by itself.
   */
  Optional<Duration> remainingTime();

  /**
   * Waits for the next message of this type, and takes it from the mailbox. The other messages keep
   * their order.
   *
   * @param <T> the type of the message
   * @param type the class or interface of the message
   * @param limit how long to wait at most; zero returns at once
   * @return the message; empty if the limit is over, or if the actor is ending and no such message
   * is queued
   * @throws IllegalStateException if the mailbox is not selective
   * @throws java.util.concurrent.CancellationException if the thread is interrupted; the interrupt
   * flag stays set
   */
  <T extends M> Optional<T> receive(Class<T> type, Duration limit);

  /**
   * Waits for the next message of this type that passes the filter, and takes it from the mailbox.
   * The other messages keep their order.
   *
   * @param <T> the type of the message
   * @param type the class or interface of the message
   * @param condition returns whether to take a message of that type
   * @param limit how long to wait at most; zero returns at once
   * @return the message; empty if the limit is over, or if the actor is ending and no such message
   * is queued
   * @see #receive(Class, Duration)
   */
  <T extends M> Optional<T> receive(Class<T> type, Predicate<? super T> condition, Duration limit);

  /**
   * Stashes the current message, to be handled again after {@link #unstash}. A stashed message does
   * not count against the capacity of the mailbox. If the actor ends before the message is
   * unstashed, the message is undelivered: see {@link DeadLetter.Reason#UNDELIVERED}.
   *
   * @throws IllegalStateException if the mailbox is not selective, or if the message is already
   * answered or stashed
   */
  void stash();

  /**
   * Returns all stashed messages to the head of the mailbox, in their order.
   *
   * @throws IllegalStateException if the mailbox is not selective
   */
  void unstash();

  /**
   * Watches another actor or block. When the watched actor ends, this actor gets a message, even if
   * this actor's mailbox is full. If the watched actor has already ended, the message is sent at
   * once. A second watch of the same actor or block replaces the message of the first watch. The
   * watch ends when this actor ends.
   *
   * <p>While the watched actor is reachable, the watch keeps this actor from being garbage
   * collected. The watch never keeps the watched actor from being garbage collected.
   *
   * @param target the actor or block to watch
   * @param message makes the message. If a block is watched, this function runs on the thread that
   * ends the block, so it must be quick. If an actor is watched, it runs on a separate thread. If
   * the target has already ended, it runs on the calling thread
   */
  void watch(Exitable target, Function<ExitReason, ? extends M> message);

  /**
   * Ends a watch. A message of the watch that is already in the mailbox is still handled.
   *
   * @param target the actor or block that was watched
   */
  void unwatch(Exitable target);
}
