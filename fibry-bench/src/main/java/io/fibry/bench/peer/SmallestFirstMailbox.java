package io.fibry.bench.peer;

import com.typesafe.config.Config;
import java.util.Comparator;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.dispatch.Envelope;
import org.apache.pekko.dispatch.UnboundedStablePriorityMailbox;

/** A mailbox of Pekko that returns the smallest message first. Pekko calls the constructor. */
public final class SmallestFirstMailbox extends UnboundedStablePriorityMailbox {

  public SmallestFirstMailbox(ActorSystem.Settings settings, Config config) {
    super(Comparator.comparing(SmallestFirstMailbox::message));
  }

  @SuppressWarnings("unchecked") // Peer.PriorityMailboxes has only comparable messages
  private static Comparable<Object> message(Envelope envelope) {
    return (Comparable<Object>) envelope.message();
  }
}
