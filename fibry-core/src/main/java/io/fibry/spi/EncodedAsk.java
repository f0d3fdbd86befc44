package io.fibry.spi;

import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.List;

/**
 * How a request is asked whose asker gets its answer in another form, such as encoded bytes. The
 * asker may be an address that stands for the actor.
 */
public interface EncodedAsk {

  /** {@return the clock that measures the limit} */
  Scheduler clock();

  /** {@return how long the asker waits at most} */
  Duration limit();

  /**
   * {@return the actors of all processes that wait for the answer, as in {@link AskChain#runAs}}
   */
  List<String> askers();

  /**
   * Called on the asker's thread before the request is sent, after the last call of the clock. No
   * code of users runs until {@link #onSent}, so an implementation may hold a lock until then.
   *
   * @return whether the request may be sent
   */
  boolean beginSend();

  /**
   * Called on the asker's thread, before it waits: the request is in the mailbox of the actor, or
   * was refused. If the send throws an error, this method is not called.
   */
  void onSent();

  /**
   * Encodes the answer, before the handler continues. So the asker sees no later change of the
   * object. Called by each thread that completes the request, in most cases the thread of the
   * actor. The result is ignored if the request was settled meanwhile, for example by its limit.
   *
   * @param answer the answer of the handler
   * @return the result for the asker. If this method throws anything, the request fails with it,
   * and the handler continues
   */
  Object encode(Object answer);

  /**
   * Makes the result of a request that failed after it was sent, by any thread. Must not call code
   * of users.
   *
   * @param failure the exception of the handler, or a {@link io.fibry.RequestException}
   * @return the result for the asker
   */
  Object encodeFailure(Throwable failure);
}
