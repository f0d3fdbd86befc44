/**
 * A message on its way, and the threads that wait for it. Needs {@code engine.queue} for places in
 * guarded queues. Begin with {@link io.fibry.engine.message.RequestFuture}, then
 * {@link io.fibry.engine.message.Wait}.
 */
package io.fibry.engine.message;
