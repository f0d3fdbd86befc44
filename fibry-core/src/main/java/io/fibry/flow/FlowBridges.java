package io.fibry.flow;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorSystem;
import io.fibry.block.Arguments;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Flow;
import java.util.function.Consumer;

/**
 * Subscribes actors to a {@link java.util.concurrent.Flow.Publisher}, and makes publishers of
 * sequences. Thread-safe.
 * {@snippet class="io.fibry.GeneratorSnippetsTest" region="flows"}
 */
public final class FlowBridges {
  private FlowBridges() {}

  /**
   * Returns a subscriber that sends the elements of a stream to an actor. At the end of the stream
   * the actor gets a poison pill; a failure of the stream is logged. If the actor ends first or
   * refuses a message, the subscription is cancelled, and the cancellation is logged.
   *
   * <p>A bounded mailbox needs capacity for {@code maxUnhandled + 1} messages, because it also
   * holds a task that requests more elements. With less capacity, the overflow rule of the mailbox
   * decides: the publisher waits, the first refused message cancels the subscription, or the oldest
   * messages are dropped. That task is never dropped.
   *
   * @param <M> messages
   * @param actor takes the messages
   * @param maxUnhandled maximum number of messages that are sent and not yet handled; at least 1
   * @return a subscriber, to be subscribed once
   */
  public static <M> Flow.Subscriber<M> subscriber(Actor<? super M> actor, int maxUnhandled) {
    return subscriber(actor, maxUnhandled, end -> end.ifPresent(failure -> FlowSubscriber.LOG.error(
        "the stream to actor '{}' is cut off; the actor handles waiting messages, and ends", actor.name(), failure)));
  }

  /**
   * Does the same as {@link #subscriber(Actor, int)}, but calls a callback at the end of the stream
   * instead of logging a failure or cancellation.
   *
   * @param <M> messages
   * @param actor takes the messages
   * @param maxUnhandled maximum number of messages that are sent and not yet handled; at least 1
   * @param end called once, with the failure of the stream or the cause of the cancellation, if
   * any; if this callback throws, that is logged
   * @return a subscriber, to be subscribed once
   */
  public static <M> Flow.Subscriber<M> subscriber(Actor<? super M> actor, int maxUnhandled,
      Consumer<Optional<Throwable>> end) {
    Objects.requireNonNull(actor, "actor");
    Arguments.requireAtLeastOne(maxUnhandled,
        "an actor with at most " + maxUnhandled + " unhandled messages never gets one");
    return new FlowSubscriber<>(actor, maxUnhandled, Objects.requireNonNull(end, "end"));
  }

  /**
   * Publishes a sequence. For each subscriber an actor in the root scope reads the whole sequence.
   * This actor has the default strategy, so the iterator may block. A cancellation interrupts the
   * iterator, a failure of the iterator fails the stream, and at the end an {@code AutoCloseable}
   * iterator is closed. If the iterator ignores the interrupt until the kill grace is over, another
   * thread closes it while the actor may still read it.
   *
   * @param <T> elements
   * @param sequence iterated for each subscriber
   * @return a publisher
   */
  public static <T> Flow.Publisher<T> publisher(Iterable<T> sequence) {
    return publisher(ActorSystem.anonymous(), sequence);
  }

  /**
   * Does the same as {@link #publisher(Iterable)}, with actors of this builder, for example in
   * another scope. When that scope closes, the streams fail with an IllegalStateException.
   *
   * @param <T> elements
   * @param builder makes an actor for each subscriber; must have no name if several subscribers can
   * subscribe at the same time
   * @param sequence iterated for each subscriber
   * @return a publisher
   */
  public static <T> Flow.Publisher<T> publisher(ActorBuilder<?> builder, Iterable<T> sequence) {
    Objects.requireNonNull(sequence, "sequence");
    Objects.requireNonNull(builder, "builder");
    return subscriber -> IteratorSubscription.open(builder, sequence, subscriber);
  }
}
