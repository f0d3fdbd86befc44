/**
 * Requests and messages that nodes send to each other, with their answers, limits and
 * cancellations. {@link io.fibry.cluster.remote.RemoteSender} sends them, and
 * {@link io.fibry.cluster.remote.InboundDispatcher} gives them to their actors. Not exported.
 */
package io.fibry.cluster.remote;
