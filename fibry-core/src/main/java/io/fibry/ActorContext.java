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
   * Completes a request that the handler was given with its answer. The request is found by
   * identity; if the same object was received twice, the first open request is completed. An answer
   * no longer awaited is discarded.
   *
   * @param <R> answer
   * @param request the message
   * @param value never null
   * @throws IllegalArgumentException if the handler was not given it, or has answered it
   */
  <R> void reply(Request<?, R> request, R value);

  /**
   * Completes a request when the stage completes, with the value or the failure of the stage. The
   * actor handles other messages meanwhile. If the actor ends first, the request fails with
   * {@link ActorStoppedException}. Code that the asker has chained to the answer never runs on the
   * thread that completes the stage.
   *
   * @param <R> answer
   * @param request the message
   * @param value the future answer
   * @throws IllegalArgumentException as {@link #reply}
   */
  <R> void replyWhen(Request<?, R> request, CompletionStage<? extends R> value);

  /**
   * Completes a request when the stage completes, as {@link #replyWhen(Request, CompletionStage)}
   * does, and tells the handler if the asker gives up before that: by an interrupt, at its limit,
   * or by canceling the future. A durable actor, whose turn is stored all the same, is not told.
   *
   * @param <R> answer
   * @param request the message
   * @param value the future answer
   * @param givenUp may end work that has begun for the request; runs at most once, on a thread of
   * its own
   * @throws IllegalArgumentException as {@link #reply}
   */
  default <R> void replyWhen(Request<?, R> request, CompletionStage<? extends R> value, Runnable givenUp) {
    replyWhen(request, value);
  }

  /**
   * Fails a request with an exception. The actor has not failed.
   *
   * @param request the message
   * @param failure the exception that the asker gets
   * @throws IllegalArgumentException as {@link #reply}
   */
  void replyFailure(Request<?, ?> request, Throwable failure);

  /** {@return whether this message is a request no longer awaited} */
  boolean isCancelled();

  /**
   * {@return how long the asker of this message still waits, for calls of other libraries} It is
   * empty if the asker has no limit, or if the message is no request. An {@code ask} of the handler
   * takes this limit by itself.
   */
  Optional<Duration> remainingTime();

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
   * @param which chooses among messages of that type
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
   * Returns all stashed messages to the head of the mailbox, in their order.
   *
   * @throws IllegalStateException if the mailbox is not selective
   */
  void unstash();

  /**
   * Sends this actor a message when the other ends; at once if it has. Watching again replaces the
   * message. No full mailbox refuses it. The watch ends with this actor. It keeps this actor alive
   * while the other lives, but not the other.
   *
   * @param other the actor or block to watch
   * @param message makes it; quick, since it runs on the thread that ends the other
   */
  void watch(Exitable other, Function<ExitReason, ? extends M> message);

  /**
   * Ends a watch. A message already in the mailbox stays.
   *
   * @param other the actor or block that was watched
   */
  void unwatch(Exitable other);
}
