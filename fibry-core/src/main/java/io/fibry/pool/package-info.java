/**
 * Many actors behind one address: {@link io.fibry.pool.Pools} of workers that share a mailbox, and
 * {@link io.fibry.pool.Entities}, an actor for each key that is used.
 */
package io.fibry.pool;
