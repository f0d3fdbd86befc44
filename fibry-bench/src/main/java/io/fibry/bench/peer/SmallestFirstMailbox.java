package io.fibry.bench.peer;

import com.typesafe.config.Config;
import java.util.Comparator;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.dispatch.Envelope;
import org.apache.pekko.dispatch.UnboundedStablePriorityMailbox;

/**
 * What Pekko makes for an actor that handles the smallest message first; it wants a public class
 * with this constructor.
 */
public final class SmallestFirstMailbox extends UnboundedStablePriorityMailbox {

  /**
   * Called by Pekko.
   *
   * @param settings not used
   * @param config not used
   */
  public SmallestFirstMailbox(ActorSystem.Settings settings, Config config) {
    super(Comparator.comparing(SmallestFirstMailbox::message));
  }

  @SuppressWarnings("unchecked") // Peer.Prioritised lets nothing else in
  private static Comparable<Object> message(Envelope envelope) {
    return (Comparable<Object>) envelope.message();
  }
}
