/**
 * Streams of messages: {@link io.fibry.flow.Pipeline}, {@link io.fibry.flow.Generator},
 * {@link io.fibry.flow.MapReduce}, {@link io.fibry.flow.Batch}, {@link io.fibry.flow.RateLimit},
 * {@link io.fibry.flow.TimeLimit}, {@link io.fibry.flow.CircuitBreaker},
 * {@link io.fibry.flow.HookedFunction}, and bridges in {@link io.fibry.flow.Flows}.
 */
package io.fibry.flow;
