/**
 * Streams of messages: {@link io.fibry.flow.Pipeline}, {@link io.fibry.flow.Generator},
 * {@link io.fibry.flow.MapReduce}, {@link io.fibry.flow.Batch}, {@link io.fibry.flow.RateLimit},
 * {@link io.fibry.flow.TimeLimit}, {@link io.fibry.flow.CircuitBreaker},
 * {@link io.fibry.flow.HookedFunction}, {@link io.fibry.flow.MultiAsk} and
 * {@link io.fibry.flow.FlowBridges}.
 */
package io.fibry.flow;
