/**
 * One actor: its queue, its drain, its failures and its end. A message takes five steps:
 *
 * <pre>
 *   sender's thread                                      the actor's thread
 * 1 ActorCell.sendMessage / ask   wraps ─► Envelope / RequestFuture
 * 2 PlainQueue.offer              queues it, or refuses it
 * 3 Dispatch.begin                gives the actor a thread, if it has none ──► Activation.drain
 * 4                                                      Behaviour.handle
 * 5 the asker's answer  ◄─────────────────────────────── RequestFuture.finish / fail
 * </pre>
 *
 * A sender that finds the queue empty gets the right to run the actor, and only its holder calls
 * the handler. Not exported.
 */
package io.fibry.engine.cell;
