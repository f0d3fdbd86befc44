package io.fibry;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * What a handler may do beside its work. Valid on the handler's thread, until the handler returns;
 * afterwards, elsewhere, or once the actor was cut off, every call is an
 * {@link IllegalStateException}.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="context"}
 *
 * @param <M> the messages of the actor
 */
public interface ActorContext<M> {

  /**
   * The actor itself.
   *
   * @return to be kept and handed on freely
   */
  Actor<M> self();

  /**
   * Answers a request that this handler was given, found by identity; of the same object received
   * twice, the first that is not answered yet. An answer that nobody waits for any more vanishes.
   *
   * @param <R> the answer
   * @param request the message
   * @param value never null
   * @throws IllegalArgumentException if the handler was given no such request, or has answered it
   * already
   */
  <R> void reply(Request<?, R> request, R value);

  /**
   * Answers it when the stage completes, with its value or its failure. The actor goes on
   * meanwhile; should it end first, the request fails with {@link ActorStoppedException}.
   *
   * @param <R> the answer
   * @param request the message
   * @param value what will be the answer
   * @throws IllegalArgumentException if the handler was given no such request, or has answered it
   * already
   */
  <R> void replyWhen(Request<?, R> request, CompletionStage<? extends R> value);

  /**
   * Answers it with an exception; for the actor this is no failure.
   *
   * @param request the message
   * @param failure what the asker gets
   * @throws IllegalArgumentException if the handler was given no such request, or has answered it
   * already
   */
  void replyFailure(Request<?, ?> request, Throwable failure);

  /**
   * Whether nobody waits any more for the answer to this message.
   *
   * @return false for a message that is no request
   */
  boolean cancelled();

  /**
   * Waits for the next message of this type, leaving the others in their order.
   *
   * @param <T> the type
   * @param type the type
   * @param limit how long at most; zero takes only what waits already
   * @return empty when the time is over, or as soon as the actor is ending and no such message
   * waits
   * @throws IllegalStateException if the mailbox is not selective
   * @throws java.util.concurrent.CancellationException if the thread is interrupted; the flag is
   * kept
   */
  <T extends M> Optional<T> receive(Class<T> type, Duration limit);

  /**
   * Waits for the next message of this type that fits, leaving the others in their order.
   *
   * @param <T> the type
   * @param type the type
   * @param which those that fit
   * @param limit how long at most; zero takes only what waits already
   * @return empty when the time is over, or as soon as the actor is ending and no such message
   * waits
   * @throws IllegalStateException if the mailbox is not selective
   * @throws java.util.concurrent.CancellationException if the thread is interrupted; the flag is
   * kept
   */
  <T extends M> Optional<T> receive(Class<T> type, Predicate<? super T> which, Duration limit);

  /**
   * Puts the message being handled aside; what is aside does not count against the capacity, and is
   * undelivered if the actor ends.
   *
   * @throws IllegalStateException if the mailbox is not selective, or the message was answered or
   * put aside already
   */
  void stash();

  /**
   * Takes all that was put aside back to the head of the mailbox, in its order.
   *
   * @throws IllegalStateException if the mailbox is not selective
   */
  void unstash();

  /**
   * Sends this actor a message of its own when the other one has ended; at once if it has. Watched
   * again, the new message takes the place of the old. It is never refused by a full mailbox. A
   * watch ends with this actor. It does not keep the watched one alive; this one it keeps, to be
   * told, as long as the other lives.
   *
   * @param other whose end
   * @param message makes the message of the reason; quick: it runs on the thread that ends the
   * other one
   */
  void watch(Exitable other, Function<ExitReason, ? extends M> message);

  /**
   * Takes a watch back. A message that is in the mailbox already stays there.
   *
   * @param other whom to watch no more
   */
  void unwatch(Exitable other);
}
