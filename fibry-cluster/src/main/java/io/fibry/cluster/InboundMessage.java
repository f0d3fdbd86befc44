package io.fibry.cluster;

import io.fibry.cluster.spi.WireMessage;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.HashMap;
import java.util.Optional;

/**
 * A message of another node that waits here, where its limit continues. Thread-safe.
 *
 * @param holder the part or the offer in which it waits
 * @param arrivedAt when it came, by the clock of the node
 */
record InboundMessage(WireMessage wire, Object holder, long arrivedAt) {

  /** With what is left of its limit. Empty if its answer is not awaited any more. */
  Optional<WireMessage> withRemainingTime(Scheduler clock) {
    long waited = Duration.ofNanos(clock.nanoTime() - arrivedAt).toMillis();
    var left = waited <= 0 ? Optional.<Long>empty() : Route.timeLeft(wire);
    if (left.isEmpty()) return Optional.of(wire);
    if (left.get() <= waited) return Optional.empty();
    var headers = new HashMap<>(wire.headers());
    headers.put(Route.TIME_LEFT, Long.toString(left.get() - waited));
    return Optional.of(new WireMessage(wire.subject(), wire.replyTo(), headers, wire.body()));
  }
}
