package io.fibry.spi;

import io.fibry.ActorContext;
import io.fibry.engine.jvm.AskChainLocals;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Gets the answer to a request at the moment of the answer, before the handler continues. So an
 * answer that goes to another process can be encoded before the handler changes the answered
 * object. A future of the request cannot do that: if the actor answers at once, code is chained to
 * the future after the handler has continued.
 *
 * <p>Actors of this library call the observer, also behind the addresses of entities and of durable
 * actors. A durable actor calls it when its handler replies, and sends the answer when the turn is
 * stored. An address of a user that sends requests on another thread has no observer.
 */
public abstract class AnswerObserver {
  private static final ThreadLocal<ObservedSend> SENT = new ThreadLocal<>();

  private record ObservedSend(Object request, AnswerObserver observer) {}

  /** For subclasses. */
  protected AnswerObserver() {}

  /**
   * Called by each thread that completes the request with an answer, in most cases the thread of
   * the actor. An answer may come several times. The request may fail nevertheless, for example by
   * its limit. This method must not throw.
   *
   * @param answer the answer of the handler
   */
  public abstract void onAnswer(Object answer);

  /**
   * Sends a request, and lets this observer get its answer.
   *
   * @param <T> the type of the result
   * @param request the very object that is sent
   * @param sending sends the request, on the calling thread
   * @return the result of {@code sending}
   */
  public final <T> T send(Object request, Supplier<T> sending) {
    AskChainLocals.markUsed();
    var outerRequest = SENT.get();
    SENT.set(new ObservedSend(request, this));
    try {
      return sending.get();
    } finally {
      if (outerRequest == null) SENT.remove();
      else SENT.set(outerRequest);
    }
  }

  /**
   * {@return the observer of a request that the calling thread is sending; empty if it has none}
   *
   * @param request the very object that is sent
   */
  public static Optional<AnswerObserver> ofSent(Object request) {
    var sent = SENT.get();
    return sent == null || sent.request != request ? Optional.empty() : Optional.of(sent.observer);
  }

  /**
   * {@return the observer of the request that a handler is handling; empty if it has none}
   *
   * @param context the context of the handler
   */
  public static Optional<AnswerObserver> of(ActorContext<?> context) {
    return context instanceof ObservedContext observed ? observed.answerObserver() : Optional.empty();
  }

  /** A context that knows the observer of its request. */
  public interface ObservedContext {

    /** {@return the observer of the request that is being handled; empty if it has none} */
    Optional<AnswerObserver> answerObserver();
  }
}
