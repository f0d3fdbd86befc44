/** Messages on their way: {@link io.fibry.flow.Pipeline}; many in one go: {@link io.fibry.flow.Batch}. */
package io.fibry.flow;
