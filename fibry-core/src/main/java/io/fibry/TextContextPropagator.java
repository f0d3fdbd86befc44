package io.fibry;

import java.util.Map;

/**
 * A context propagator that can also write its context as texts, such as a trace or a tenant. The
 * texts travel with messages to other nodes of a cluster, and are stored with messages of durable
 * actors. The context of any other propagator stays in its process.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="textPropagator"}
 *
 * <p>The propagators of a scope must choose different names for their texts. The texts of one
 * message have together at most 2,048 bytes, names included, as a URL encodes them. If the texts of
 * a propagator do not fit beside the texts of earlier propagators, they are omitted, which is
 * logged. Stores and networks get the texts unencrypted, so the texts should contain no secrets.
 *
 * @param <C> the type of the captured context
 */
public interface TextContextPropagator<C> extends ContextPropagator<C> {

  /**
   * Writes a captured context as texts. Called on the sender's thread.
   *
   * @param context the result of {@link #capture(Actor, Object)}, not null
   * @return the texts by name; empty if there is no context to pass on
   */
  Map<String, String> write(C context);

  /**
   * Reads a context from texts. Called in the process of the actor, before the message is sent to
   * the actor.
   *
   * @param texts the texts that {@link #write} returned in the process of the sender, together with
   *     the texts of other propagators. Check them, because they come from outside of this process
   * @return the context to restore; null if the texts contain no context of this propagator
   */
  C read(Map<String, String> texts);
}
