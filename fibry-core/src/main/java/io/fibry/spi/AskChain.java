package io.fibry.spi;

import io.fibry.engine.jvm.AskChainLocals;
import java.util.List;

/**
 * The askers of a request that came from another process: the actors of other processes that wait
 * until the request is handled. Each asker is identified by a text. Libraries that carry requests
 * between processes send these texts with each request. If the text of an actor is among the askers
 * of a request to this actor, the actor would wait for itself. No single process can see such a
 * cycle of waits completely. Thread-safe.
 */
public final class AskChain {
  private AskChain() {}

  /**
   * {@return the askers of the message that the current thread is handling, the outermost first, as
   * they were given to {@link #runAs}} An {@code ask} of the handler passes these askers on.
   */
  public static List<String> current() {
    return AskChainLocals.handledAskers();
  }

  /**
   * Sends messages that came from another process. In their handlers, and in the handlers of all
   * actors that these handlers ask, {@link #current} returns the given askers.
   *
   * @param askers the outermost first; the last is the actor that the messages are sent to. If that
   * actor is a pool, its handlers do not see it among the askers, because another worker can handle
   * their requests to the pool
   * @param send sends the messages; must not wait
   */
  public static void runAs(List<String> askers, Runnable send) {
    AskChainLocals.send(List.copyOf(askers), send);
  }
}
