/** Messages on their way: {@link io.fibry.flow.Pipeline}; many in one go: {@link io.fibry.flow.Batch}; not too many at once: {@link io.fibry.flow.RateLimit}; with code around them: {@link io.fibry.flow.Hooks}. */
package io.fibry.flow;
