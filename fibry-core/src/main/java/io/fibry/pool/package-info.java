/** Actors that work on several messages at once: {@link io.fibry.pool.Pools}. */
package io.fibry.pool;
