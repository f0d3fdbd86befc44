/**
 * The queues of all mailboxes but the plain one: {@link io.fibry.engine.queue.GuardedQueue} for one
 * actor, {@link io.fibry.engine.queue.SharedQueue} for the workers of a pool. Not exported.
 */
package io.fibry.engine.queue;
