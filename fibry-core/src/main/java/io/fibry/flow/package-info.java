/** Messages on their way: {@link io.fibry.flow.Pipeline}; many in one go: {@link io.fibry.flow.Batch}; not too many at once: {@link io.fibry.flow.RateLimit}. */
package io.fibry.flow;
