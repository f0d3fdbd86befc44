package io.fibry;

import java.util.Map;

/**
 * A carrier whose values also have a form as texts, such as a trace or a tenant. So they cross from
 * node to node of a cluster, and a store keeps them with messages that wait there. Values of other
 * carriers stay in their process.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="textCarrier"}
 *
 * <p>All carriers of a scope share the names of their texts. The texts of one message have at most
 * 2,048 bytes together, names included, as a URL encodes them. Texts of a carrier that do not fit
 * beside those of the carriers before it are left out, which is logged. Stores and networks have
 * these texts as they are, so they should contain no secrets.
 *
 * @param <C> what it captures
 */
public interface TextContextPropagator<C> extends ContextPropagator<C> {

  /**
   * Called on the sender's thread.
   *
   * @param captured as returned by {@link #capture(Actor, Object)}, and not null
   * @return texts by name; empty: nothing crosses
   */
  Map<String, String> write(C captured);

  /**
   * Called where the message arrives, before it is sent to its actor there.
   *
   * @param texts what {@link #write} returned in the process of the sender, with the texts of other
   *     carriers; they come from outside of this process, so check them
   * @return what to set, such as {@link #capture} returns; null: the texts say nothing
   */
  C read(Map<String, String> texts);
}
