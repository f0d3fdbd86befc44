package io.fibry.spi;

import io.fibry.engine.jvm.AskChainLocals;
import java.util.List;

/**
 * The actors of other processes that wait for what this one handles: for libraries that carry
 * requests between processes. They send these texts along. An actor that finds its own text among
 * the askers of a request would wait for itself: these waits form a cycle that no single process
 * sees whole. Thread-safe.
 */
public final class AskChain {
  private AskChain() {}

  /**
   * {@return which actors wait until the message that this thread handles is handled, the outermost
   * first, as given to {@link #runAs}; an {@code ask} passes them on}
   */
  public static List<String> current() {
    return AskChainLocals.handledAskers();
  }

  /**
   * Sends messages that came from another process. The handlers of these, and of all that those
   * ask, have these askers {@link #current}.
   *
   * @param askers the outermost first; the last one is the actor that the messages go to. A pool is
   * not among its own askers, since another worker can handle the request
   * @param sending sends, and does not wait
   */
  public static void runAs(List<String> askers, Runnable sending) {
    AskChainLocals.send(List.copyOf(askers), sending);
  }
}
