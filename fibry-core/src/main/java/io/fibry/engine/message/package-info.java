/**
 * Messages between sender and handler, and the threads that wait for them. Uses the entries of
 * {@code engine.queue} for guarded queues. Begin with
 * {@link io.fibry.engine.message.RequestFuture}, then {@link io.fibry.engine.message.Wait}.
 */
package io.fibry.engine.message;
