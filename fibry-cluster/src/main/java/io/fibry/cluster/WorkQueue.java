package io.fibry.cluster;

import io.fibry.Exitable;
import io.fibry.Handler;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * Work for all nodes: a piece waits in the network until a worker of some node has done it. It is
 * done once; or more than once, if a node ends, or is cut off, between doing it and saying so.
 * Workers of all nodes share it, without an order. Thread-safe.
 *
 * <p>Work whose worker throws is tried again, after a pause. A piece that has failed too often, or
 * was begun too often and never ended, is parked: no worker takes it until {@link #retry}.
 *
 * @param <M> work
 */
public interface WorkQueue<M> {

  /** {@return its name} */
  String name();

  /**
   * Puts work, and waits until it is stored. Work that is {@link io.fibry.durable.Idempotent} is
   * stored once, though it is put again within two minutes.
   *
   * @param work never null
   * @throws TransportException if it was not stored, or nobody knows: then put it again
   * @throws IllegalArgumentException if it is too large
   */
  void put(M work);

  /**
   * Does work on this node.
   *
   * @param maxParallel how many pieces at the same time, each on a thread of its own: at least 1
   * @param worker does one piece; an exception is a failure of the piece
   * @return closing it takes no more pieces, and waits for those that are being worked on; when it
   * is killed, these are interrupted, and go back
   * @throws IllegalStateException if this node works on the queue already
   */
  default Exitable consume(int maxParallel, Handler<M> worker) {
    return consume(options -> options.withMaxParallel(maxParallel), worker);
  }

  /**
   * Works with options.
   *
   * @param options changes the usual ones
   * @param worker does one piece
   * @return as there
   * @throws IllegalStateException if this node works on the queue already
   */
  Exitable consume(UnaryOperator<Options> options, Handler<M> worker);

  /**
   * {@return how many pieces wait or are being worked on, without parked ones}
   *
   * @throws TransportException if nobody knows
   */
  long size();

  /**
   * Work that was parked.
   *
   * @param <M> work
   * @param number in its queue
   * @param work empty: this node cannot read it
   * @param attempts how often it was begun
   * @param reason why it failed for the last time
   * @param parkedAt when it was parked
   */
  record ParkedWork<M>(long number, Optional<M> work, int attempts, String reason, Instant parkedAt) {}

  /**
   * Returns parked work. It stays there for ever.
   *
   * @param max how many at most
   * @return the oldest first
   * @throws TransportException if it cannot be read
   */
  List<ParkedWork<M>> parked(int max);

  /**
   * Puts parked work into the queue again, behind the waiting pieces.
   *
   * @param aside as {@link #parked} answered it
   * @return false: it is not aside any more
   * @throws TransportException if nobody knows
   */
  boolean retry(ParkedWork<M> aside);

  /**
   * Removes parked work.
   *
   * @param aside as {@link #parked} answered it
   * @return false: it is not aside any more
   * @throws TransportException if nobody knows
   */
  boolean discard(ParkedWork<M> aside);

  /**
   * How work is done. Immutable.
   *
   * @param maxParallel how many pieces at the same time
   * @param maxAttempts after so many failures a piece is parked
   * @param initialBackoff after the first failure; each further failure doubles it
   * @param maxBackoff the longest of them
   */
  record Options(int maxParallel, int maxAttempts, Duration initialBackoff, Duration maxBackoff) {
    private static final int MAX_PARALLEL = 10_000;
    static final Options DEFAULT = new Options(1, 10, Duration.ofSeconds(1), Duration.ofMinutes(5));

    /** Checks them. */
    public Options {
      check(maxParallel, "pieces at once");
      check(maxAttempts, "attempts");
      if (!Objects.requireNonNull(initialBackoff, "initialBackoff").isPositive()
          || initialBackoff.compareTo(maxBackoff) > 0)
        throw new IllegalArgumentException(
            "pauses from " + initialBackoff + " to " + maxBackoff + "; give more than zero, and the longer one last");
    }

    private static void check(int number, String what) {
      if (number < 1 || number > MAX_PARALLEL)
        throw new IllegalArgumentException(number + " " + what + "; give 1 to " + MAX_PARALLEL);
    }

    /**
     * How many pieces at the same time.
     *
     * @param pieces by default 1
     * @return a changed copy
     */
    public Options withMaxParallel(int pieces) {
      return new Options(pieces, maxAttempts, initialBackoff, maxBackoff);
    }

    /**
     * Sets how often a piece may fail before it is parked.
     *
     * @param failures by default 10; 1 parks it at once
     * @return a changed copy
     */
    public Options withMaxAttempts(int failures) {
      return new Options(maxParallel, failures, initialBackoff, maxBackoff);
    }

    /**
     * How long a piece that failed waits. Each further failure doubles the pause.
     *
     * @param first by default a second
     * @param longest by default 5 minutes
     * @return a changed copy
     */
    public Options withBackoff(Duration first, Duration longest) {
      return new Options(maxParallel, maxAttempts, first, longest);
    }

    /** After so many failures. */
    Duration backoffAfter(int failures) {
      var doubled = initialBackoff.multipliedBy(1L << Math.min(30, failures - 1));
      return doubled.compareTo(maxBackoff) < 0 ? doubled : maxBackoff;
    }
  }
}
