package io.fibry;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * What a handler may do beside its work. Valid on the handler's thread, until the handler returns;
 * other calls, or calls once the actor was cut off, throw {@link IllegalStateException}.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="context"}
 *
 * @param <M> messages
 */
public interface ActorContext<M> {

  /** {@return the actor, to keep and pass on freely} */
  Actor<M> self();

  /**
   * Answers a request that the handler was given, found by identity; of an object received twice,
   * the first still open. An answer no longer awaited is discarded.
   *
   * @param <R> answer
   * @param request the message
   * @param value never null
   * @throws IllegalArgumentException if the handler was not given it, or has answered it
   */
  <R> void reply(Request<?, R> request, R value);

  /**
   * Answers a request when the stage completes, with its value or failure. The actor goes on
   * meanwhile; if it ends first, the request fails with {@link ActorStoppedException}. What the
   * asker has chained to the answer never runs on the thread that completes the stage.
   *
   * @param <R> answer
   * @param request the message
   * @param value the future answer
   * @throws IllegalArgumentException as {@link #reply}
   */
  <R> void replyWhen(Request<?, R> request, CompletionStage<? extends R> value);

  /**
   * Answers a request when the stage completes, as {@link #replyWhen(Request, CompletionStage)},
   * and tells if its asker gives up before: by an interrupt, a limit, or a future that it cancels.
   * A durable actor, whose turn is stored all the same, is not told.
   *
   * @param <R> answer
   * @param request the message
   * @param value the future answer
   * @param givenUp ends what is under way, say; runs once at most, on a thread of its own
   * @throws IllegalArgumentException as {@link #reply}
   */
  default <R> void replyWhen(Request<?, R> request, CompletionStage<? extends R> value, Runnable givenUp) {
    replyWhen(request, value);
  }

  /**
   * Answers a request with an exception. The actor has not failed.
   *
   * @param request the message
   * @param failure what the asker gets
   * @throws IllegalArgumentException as {@link #reply}
   */
  void replyFailure(Request<?, ?> request, Throwable failure);

  /** {@return whether this message is a request no longer awaited} */
  boolean cancelled();

  /**
   * {@return how long this message's answer is awaited yet, for calls of other libraries; empty: as
   * long as it takes, or it is no request} An {@code ask} of the handler has that limit by itself.
   */
  Optional<Duration> timeLeft();

  /**
   * Waits for the next message of this type, leaving the others in order.
   *
   * @param <T> type
   * @param type of the message
   * @param limit how long at most; zero does not wait
   * @return empty if the limit is over, or the actor is ending and none is queued
   * @throws IllegalStateException if the mailbox is not selective
   * @throws java.util.concurrent.CancellationException if interrupted, keeping the flag
   */
  <T extends M> Optional<T> receive(Class<T> type, Duration limit);

  /**
   * Waits as {@link #receive(Class, Duration)}, but only for messages that fit.
   *
   * @param <T> type
   * @param type of the message
   * @param which those that fit
   * @param limit how long at most; zero does not wait
   * @return as there
   */
  <T extends M> Optional<T> receive(Class<T> type, Predicate<? super T> which, Duration limit);

  /**
   * Puts the current message aside. It no longer counts against the capacity; if the actor ends, it
   * is undelivered.
   *
   * @throws IllegalStateException if the mailbox is not selective, or the message is answered or
   * aside
   */
  void stash();

  /**
   * Returns all put aside to the head of the mailbox, in order.
   *
   * @throws IllegalStateException if the mailbox is not selective
   */
  void unstash();

  /**
   * Sends this actor a message when the other ends; at once if it has. Watching again replaces the
   * message. No full mailbox refuses it. The watch ends with this actor. It keeps this actor alive
   * while the other lives, but not the other.
   *
   * @param other what to watch
   * @param message makes it; quick, since it runs on the thread that ends the other
   */
  void watch(Exitable other, Function<ExitReason, ? extends M> message);

  /**
   * Ends a watch. A message already in the mailbox stays.
   *
   * @param other what it watched
   */
  void unwatch(Exitable other);
}
