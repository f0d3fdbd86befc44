/** {@link io.fibry.pool.Pools} of workers, and {@link io.fibry.pool.Entities}, an actor per key. */
package io.fibry.pool;
