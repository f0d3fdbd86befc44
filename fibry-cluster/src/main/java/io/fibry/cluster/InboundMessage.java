package io.fibry.cluster;

import io.fibry.cluster.spi.WireMessage;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.HashMap;
import java.util.Optional;

/**
 * A message of another node that waits on this node. The time of the wait counts against the limit
 * of the message. Thread-safe.
 *
 * @param holder the gate of the partition, or the offer, in which it waits
 * @param arrivedAt when it arrived, in nanoseconds of the node's clock
 */
record InboundMessage(WireMessage wire, Object holder, long arrivedAt) {

  /** Returns the message with the remaining time of its limit; empty if no time remains. */
  Optional<WireMessage> withRemainingTime(Scheduler clock) {
    long waitedMillis = Duration.ofNanos(clock.nanoTime() - arrivedAt).toMillis();
    var limitMillis = waitedMillis <= 0 ? Optional.<Long>empty() : Destination.remainingMillis(wire);
    if (limitMillis.isEmpty()) return Optional.of(wire);
    if (limitMillis.get() <= waitedMillis) return Optional.empty();
    var headers = new HashMap<>(wire.headers());
    headers.put(Destination.TIME_LEFT, Long.toString(limitMillis.get() - waitedMillis));
    return Optional.of(new WireMessage(wire.subject(), wire.replyTo(), headers, wire.body()));
  }
}
