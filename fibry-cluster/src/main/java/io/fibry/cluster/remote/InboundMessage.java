package io.fibry.cluster.remote;

import io.fibry.cluster.spi.WireMessage;
import io.fibry.cluster.wire.Destination;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.HashMap;
import java.util.Optional;

/**
 * A message of another node that waits on this node. The time of the wait counts against the limit
 * of the message. Thread-safe.
 */
public final class InboundMessage {
  private final WireMessage wire;
  private final Object holder;
  private final long arrivedAt;
  private volatile boolean isCancelled; // set by the thread of the transport, read by the holder

  /**
   * Makes a message that waits.
   *
   * @param holder the gate of the partition, or the offer, in which it waits
   * @param arrivedAt when it arrived, in nanoseconds of the node's clock
   */
  public InboundMessage(WireMessage wire, Object holder, long arrivedAt) {
    this.wire = wire;
    this.holder = holder;
    this.arrivedAt = arrivedAt;
  }

  public WireMessage wire() {
    return wire;
  }

  Object holder() {
    return holder;
  }

  /** Returns whether an asker waits for the answer of an actor's handler. */
  boolean isRequest() {
    return wire.replyTo().isPresent() && wire.header(Destination.STORE).isEmpty()
        && wire.header(Destination.PRESENCE_QUERY).isEmpty() && !TellBundle.isBundle(wire);
  }

  /** Records that the asker has stopped waiting. A message that is not a request stays valid. */
  void cancel() {
    isCancelled = isRequest();
  }

  boolean isCancelled() {
    return isCancelled;
  }

  /**
   * Returns the message with the remaining time of its limit. Returns empty if no time remains, or
   * the request was cancelled, so that no actor may get it.
   */
  public Optional<WireMessage> withRemainingTime(Scheduler clock) {
    if (isCancelled) return Optional.empty();
    long waitedMillis = Duration.ofNanos(clock.nanoTime() - arrivedAt).toMillis();
    var limitMillis = waitedMillis <= 0 ? Optional.<Long>empty() : Destination.remainingMillis(wire);
    if (limitMillis.isEmpty()) return Optional.of(wire);
    if (limitMillis.get() <= waitedMillis) return Optional.empty();
    var headers = new HashMap<>(wire.headers());
    headers.put(Destination.TIME_LEFT, Long.toString(limitMillis.get() - waitedMillis));
    return Optional.of(new WireMessage(wire.subject(), wire.replyTo(), headers, wire.body()));
  }
}
