/**
 * Messages in flight between sender and handler, and the waits of threads for an answer, an end or
 * capacity. Messages for guarded queues are entries of {@code engine.queue}. Begin with
 * {@link io.fibry.engine.message.RequestFuture}, then {@link io.fibry.engine.message.Wait}.
 */
package io.fibry.engine.message;
