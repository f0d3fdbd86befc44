package io.fibry.spi;

import io.fibry.Actor;

/**
 * An actor that knows whether a thread that must not wait may send to it. Actors of this library
 * implement this interface; addresses of blocks, such as durable actors, do not.
 */
public interface PromptReceiver {

  /**
   * {@return whether a send never waits for capacity, and neither runs the handler nor a comparator
   * or a strategy of a user on the sender's thread} The answer never changes. Context propagators
   * and listeners of dead letters run on the sender's thread nevertheless.
   */
  boolean acceptsPromptly();

  /**
   * {@return whether a request that captures no context is also sent without a call of a listener
   * or a clock of users on the sender's thread} The answer never changes. A mailbox that drops its
   * oldest message calls listeners of dead letters. A mailbox with a maximum wait reads the clock
   * of the scope.
   */
  boolean sendsWithoutUserCode();

  /**
   * {@return whether the actor handles no message, and no message waits} An idle actor has handled
   * all earlier messages of the calling thread, unless they were withdrawn.
   */
  boolean isIdle();

  /**
   * Asks a request, whose answer is encoded on the thread of the actor. Runs the handler on the
   * thread of the actor, and captures no context.
   *
   * @param request the request
   * @param ask the limit of the request, and the form of its answer
   * @return a result of {@link EncodedAsk#encode} or {@link EncodedAsk#encodeFailure}; {@code ask}
   * itself if {@link EncodedAsk#beginSend} did not permit the request
   * @throws io.fibry.RequestException if the time is over, or the asker would wait for itself
   * @throws java.util.concurrent.CancellationException if the asker is interrupted
   */
  Object askEncoded(Object request, EncodedAsk ask);

  /**
   * {@return whether a thread that must not wait may send to the actor}
   *
   * @param actor an actor, or the address of a block
   */
  static boolean isPrompt(Actor<?> actor) {
    return actor instanceof PromptReceiver receiver && receiver.acceptsPromptly();
  }
}
