/**
 * The actor model and its engine. Start at {@link io.fibry.ActorSystem} for making actors and at
 * {@link io.fibry.Actor} for using them.
 *
 * <pre>
 *   sender's thread                                 the actor's thread
 * 1 Actor.sendMessage / ask    wraps ─► Envelope / Asked
 * 2 ActorCell.offer            queues it, or refuses it
 * 3 Dispatch.begin             gives the actor a thread, if it has none ──► Activation.drain
 * 4                                                 handler(message)
 * 5 the asker's answer  ◄────────────────────────── Asked.finish / fail
 * </pre>
 */
package io.fibry;
