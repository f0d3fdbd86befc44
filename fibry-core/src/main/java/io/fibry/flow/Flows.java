package io.fibry.flow;

import io.fibry.Actor;
import io.fibry.ActorWithReturn;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Flow;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Bridges to {@link java.util.concurrent.Flow}, and questions to many actors at once. Thread-safe.
 * {@snippet class="io.fibry.GeneratorSnippetsTest" region="flows"}
 */
public final class Flows {
  static final Logger LOG = LoggerFactory.getLogger(Flows.class);

  private Flows() {}

  /**
   * Feeds the actor, never more than so many messages ahead of it. When the stream ends, the actor
   * is sent a poison pill; the failure of a stream is logged. When the actor ends first, or refuses
   * a message, the subscription is cancelled, which is logged too.
   *
   * <p>When more than half of them are handled, a task in turn with them asks for more, so a
   * bounded mailbox needs room for {@code ahead} messages and one. With less room, one that blocks
   * makes the publisher wait; one that refuses messages cuts off the stream; one that drops the
   * oldest drops messages, but not that task.
   *
   * @param <M> the messages
   * @param actor whom to feed
   * @param ahead how many it may have been sent and not handled; at least 1
   * @return to be subscribed once
   */
  public static <M> Flow.Subscriber<M> subscriber(Actor<? super M> actor, int ahead) {
    Objects.requireNonNull(actor, "actor");
    return subscriber(actor, ahead,
        end -> end.ifPresent(
            failure -> LOG.error("the stream that fed actor '{}' is cut off; the actor handles what waits, and ends",
                actor.name(), failure)));
  }

  /**
   * The same, telling how the stream ended, where the other one logs.
   *
   * @param <M> the messages
   * @param actor whom to feed
   * @param ahead how many it may have been sent and not handled; at least 1
   * @param end called once: with nothing at the end of the stream; with its failure; or with why
   * the subscription was cancelled. What it throws is logged
   * @return to be subscribed once
   */
  public static <M> Flow.Subscriber<M> subscriber(Actor<? super M> actor, int ahead,
      Consumer<Optional<Throwable>> end) {
    Objects.requireNonNull(actor, "actor");
    if (ahead < 1) throw new IllegalArgumentException(
        "an actor that may be sent " + ahead + " messages ahead is never sent one; give at least 1");
    return new FlowSubscriber<>(actor, ahead, Objects.requireNonNull(end, "end"));
  }

  /**
   * Each subscriber reads the whole sequence at its own pace, on an actor of its own in the root
   * scope, with the default strategy: the sequence may block. What its iterator throws is the
   * failure of the stream; an iterator that is an {@code AutoCloseable}, such as that of a
   * {@link Generator}, is closed at the end. Cancelling a subscription interrupts an iterator at
   * work.
   *
   * @param <T> the elements
   * @param sequence gives each subscriber an iterator
   * @return a publisher
   */
  public static <T> Flow.Publisher<T> publisher(Iterable<T> sequence) {
    Objects.requireNonNull(sequence, "sequence");
    return subscriber -> IteratorSubscription.open(sequence, subscriber);
  }

  /**
   * Asks all and waits for all answers. The first failure cancels the other requests and is thrown,
   * as {@code ask} throws it; so does the end of the time. A handler that asks this way waits for
   * what was promised: a ring of such waits is not seen, and ends by the limit.
   *
   * @param <M> the message
   * @param <R> the answers
   * @param actors whom to ask
   * @param message what
   * @param limit for all of them together
   * @return their answers, in the order of the actors; empty if there are none
   * @throws io.fibry.AskTimeoutException if an answer is missing when the time is over; its text
   * says whose
   * @throws java.util.concurrent.CancellationException if the waiting thread is interrupted; the
   * flag is kept, and the requests are cancelled
   */
  public static <M, R> List<R> askAll(Collection<? extends ActorWithReturn<M, R>> actors, M message, Duration limit) {
    var gather = new GroupRequest<>(actors, message, limit);
    return gather.all();
  }

  /**
   * Asks all, waits for the first answer and cancels the other requests. Failures count only when
   * all have failed: then the first of them is thrown, with the others suppressed.
   *
   * @param <M> the message
   * @param <R> the answers
   * @param actors whom to ask, one at least
   * @param message what
   * @param limit for all of them together
   * @return the answer that came first
   * @throws io.fibry.AskTimeoutException if there is none when the time is over
   * @throws java.util.concurrent.CancellationException if the waiting thread is interrupted; the
   * flag is kept, and the requests are cancelled
   */
  public static <M, R> R askFirst(Collection<? extends ActorWithReturn<M, R>> actors, M message, Duration limit) {
    var gather = new GroupRequest<>(actors, message, limit);
    return gather.first();
  }
}
