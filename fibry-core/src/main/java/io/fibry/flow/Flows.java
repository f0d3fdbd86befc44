package io.fibry.flow;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.block.Arguments;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Flow;
import java.util.function.Consumer;

/**
 * Bridges to {@link java.util.concurrent.Flow}, and requests to many actors. Thread-safe.
 * {@snippet class="io.fibry.GeneratorSnippetsTest" region="flows"}
 */
public final class Flows {
  private Flows() {}

  /**
   * Feeds an actor from a stream. The stream's end sends it a poison pill; a failure is logged.
   * When the actor ends first or refuses a message, the subscription is cancelled, and that is
   * logged.
   *
   * <p>A bounded mailbox needs room for {@code ahead + 1}, since a task in it requests more. A
   * smaller one makes the publisher wait, cuts off the stream with the first refused message, or
   * drops the oldest messages, never that task.
   *
   * @param <M> messages
   * @param actor takes the messages
   * @param ahead most messages sent and not handled; at least 1
   * @return to be subscribed once
   */
  public static <M> Flow.Subscriber<M> subscriber(Actor<? super M> actor, int ahead) {
    return subscriber(actor, ahead, end -> end.ifPresent(failure -> FlowSubscriber.LOG.error(
        "the stream that fed actor '{}' is cut off; the actor handles what waits, and ends", actor.name(), failure)));
  }

  /**
   * Does the same as {@link #subscriber(Actor, int)}, with a callback instead of the log.
   *
   * @param <M> messages
   * @param actor takes the messages
   * @param ahead at least 1
   * @param end called once, with the failure or cause of cancellation, if any; its own failure is
   * logged
   * @return to be subscribed once
   */
  public static <M> Flow.Subscriber<M> subscriber(Actor<? super M> actor, int ahead,
      Consumer<Optional<Throwable>> end) {
    Objects.requireNonNull(actor, "actor");
    Arguments.requireAtLeastOne(ahead, "an actor that may be sent " + ahead + " messages ahead is never sent one");
    return new FlowSubscriber<>(actor, ahead, Objects.requireNonNull(end, "end"));
  }

  /**
   * Publishes a sequence. Each subscriber reads all of it, on its own actor in the root scope with
   * the default strategy, so the iterator may block. A cancellation interrupts it, its failure
   * fails the stream, and it is closed at the end if it is {@code AutoCloseable}.
   *
   * @param <T> elements
   * @param sequence iterated for each subscriber
   * @return a publisher
   */
  public static <T> Flow.Publisher<T> publisher(Iterable<T> sequence) {
    return publisher(ActorSystem.anonymous(), sequence);
  }

  /**
   * Does the same as {@link #publisher(Iterable)}, with actors of this builder, for example of
   * another scope. The close of that scope ends the streams with an IllegalStateException.
   *
   * @param <T> elements
   * @param builder makes an actor for each subscriber; without a name, since several may subscribe
   * @param sequence iterated for each subscriber
   * @return a publisher
   */
  public static <T> Flow.Publisher<T> publisher(ActorBuilder<?> builder, Iterable<T> sequence) {
    Objects.requireNonNull(sequence, "sequence");
    Objects.requireNonNull(builder, "builder");
    return subscriber -> IteratorSubscription.open(builder, sequence, subscriber);
  }

  /**
   * Asks all actors and waits for all answers. The first failure cancels the other requests and is
   * thrown, as by {@code ask}. A ring of such waits is not detected: the limit ends it.
   *
   * @param <M> message
   * @param <R> answers
   * @param actors to be asked
   * @param message for each
   * @param limit for all together
   * @return the answers, in the order of the actors
   * @throws io.fibry.AskTimeoutException names actors without answer
   * @throws java.util.concurrent.CancellationException if the waiting thread is interrupted; the
   * flag is kept, and the requests are cancelled
   */
  public static <M, R> List<R> askAll(Collection<? extends ActorWithReturn<M, R>> actors, M message, Duration limit) {
    return new MultiAsk<>(actors, message, limit).askAll();
  }

  /**
   * Asks all actors, waits for the first answer and cancels the other requests. If all fail, the
   * first failure is thrown, with the others suppressed.
   *
   * @param <M> message
   * @param <R> answer
   * @param actors to be asked, at least one
   * @param message for each
   * @param limit for all together
   * @return the first answer
   * @throws io.fibry.AskTimeoutException if there is none
   * @throws java.util.concurrent.CancellationException as {@link #askAll}
   */
  public static <M, R> R askFirst(Collection<? extends ActorWithReturn<M, R>> actors, M message, Duration limit) {
    return new MultiAsk<>(actors, message, limit).askFirst();
  }
}
