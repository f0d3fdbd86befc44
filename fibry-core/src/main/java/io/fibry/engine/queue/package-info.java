/**
 * The queues of all mailboxes except plain ones, which are unbounded and keep the order of arrival.
 * {@link io.fibry.engine.queue.GuardedQueue} is for one actor,
 * {@link io.fibry.engine.queue.SharedQueue} for the workers of a pool. Not exported.
 */
package io.fibry.engine.queue;
