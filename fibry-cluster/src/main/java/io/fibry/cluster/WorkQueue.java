package io.fibry.cluster;

import io.fibry.Exitable;
import io.fibry.Handler;
import io.fibry.text.Durations;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * A queue of work for all nodes. The transport (NATS, or memory) stores a piece until a worker of
 * some node has done it. A piece is done once, unless the node that does it ends or is disconnected
 * between the work and the confirmation: then the piece is done again. Workers of all nodes share
 * the pieces, in no particular order. Thread-safe.
 *
 * <p>If a worker throws, its piece is tried again after a backoff. A piece that has failed too
 * often, or was begun too often without an end, is parked: no worker takes it until {@link #retry}.
 *
 * @param <M> the work
 */
public interface WorkQueue<M> {

  /** {@return the name of the queue} */
  String name();

  /**
   * Puts work into the queue, and waits until it is stored. Work that is {@link
   * io.fibry.durable.Idempotent} is stored once, even if it is put again within two minutes.
   *
   * @param work never null
   * @throws TransportException if the work was not stored, or if it is unknown whether it was
   * stored. In both cases, put it again
   * @throws IllegalArgumentException if the work is too large
   */
  void put(M work);

  /**
   * Begins to do work on this node.
   *
   * @param maxParallel how many pieces are done at the same time, each on its own thread: at least
   * 1
   * @param worker does one piece; if it throws, the piece has failed
   * @return the workers. Closing them stops the taking of pieces, and waits for the pieces that are
   * being done. Killing them interrupts these pieces, and gives them back to the queue
   * @throws IllegalStateException if this node works on the queue already
   */
  default Exitable consume(int maxParallel, Handler<M> worker) {
    return consume(options -> options.withMaxParallel(maxParallel), worker);
  }

  /**
   * Begins to do work on this node, with options.
   *
   * @param options changes the defaults
   * @param worker does one piece; if it throws, the piece has failed
   * @return the workers. Closing them stops the taking of pieces, and waits for the pieces that are
   * being done. Killing them interrupts these pieces, and gives them back to the queue
   * @throws IllegalStateException if this node works on the queue already
   */
  Exitable consume(UnaryOperator<Options> options, Handler<M> worker);

  /**
   * {@return how many pieces wait or are being done, without the parked pieces}
   *
   * @throws TransportException if the queue cannot be read
   */
  long size();

  /**
   * A piece of work that was parked.
   *
   * @param <M> the work
   * @param number its number among the parked pieces
   * @param work the work, or empty if this node cannot read it
   * @param attempts how often it was begun
   * @param reason why it failed the last time
   * @param parkedAt when it was parked
   */
  record ParkedWork<M>(long number, Optional<M> work, int attempts, String reason, Instant parkedAt) {}

  /**
   * Returns parked work, which stays parked until it is retried or discarded.
   *
   * @param maxPieces how many pieces to return at most
   * @return the pieces, the oldest first
   * @throws TransportException if the queue cannot be read
   */
  List<ParkedWork<M>> parked(int maxPieces);

  /**
   * Puts parked work into the queue again, after the waiting pieces.
   *
   * @param work a piece that {@link #parked} returned
   * @return whether it was still parked
   * @throws TransportException if it is not known whether the operation succeeded
   */
  boolean retry(ParkedWork<M> work);

  /**
   * Removes parked work.
   *
   * @param work a piece that {@link #parked} returned
   * @return whether it was still parked
   * @throws TransportException if it is not known whether the operation succeeded
   */
  boolean discard(ParkedWork<M> work);

  /**
   * The options of the workers of a queue on one node. Immutable.
   *
   * @param maxParallel how many pieces are done at the same time
   * @param maxAttempts after how many attempts that failed, or did not end, a piece is parked
   * @param initialBackoff the backoff after the first failure, twice as long after each further
   * failure
   * @param maxBackoff the longest backoff
   */
  record Options(int maxParallel, int maxAttempts, Duration initialBackoff, Duration maxBackoff) {
    private static final int MAX_COUNT = 10_000;
    static final Options DEFAULT = new Options(1, 10, Duration.ofSeconds(1), Duration.ofMinutes(5));

    /** Checks the options. */
    public Options {
      check(maxParallel, "pieces at once");
      check(maxAttempts, "attempts");
      if (!Objects.requireNonNull(initialBackoff, "initialBackoff").isPositive()
          || initialBackoff.compareTo(maxBackoff) > 0)
        throw new IllegalArgumentException(
            "a backoff from " + Durations.text(initialBackoff) + " to " + Durations.text(maxBackoff)
                + "; give an initial backoff above zero, and a maximum that is not shorter");
    }

    private static void check(int number, String unit) {
      if (number < 1 || number > MAX_COUNT)
        throw new IllegalArgumentException(number + " " + unit + "; give 1 to " + MAX_COUNT);
    }

    /**
     * Sets how many pieces are done at the same time.
     *
     * @param pieces by default 1
     * @return a changed copy
     */
    public Options withMaxParallel(int pieces) {
      return new Options(pieces, maxAttempts, initialBackoff, maxBackoff);
    }

    /**
     * Sets how many attempts a piece has. If its last attempt fails, or does not end, the piece is
     * parked.
     *
     * @param attempts by default 10; 1 parks a piece at its first failure
     * @return a changed copy
     */
    public Options withMaxAttempts(int attempts) {
      return new Options(maxParallel, attempts, initialBackoff, maxBackoff);
    }

    /**
     * Sets how long a failed piece waits before it is tried again. Each further failure doubles
     * this backoff.
     *
     * @param initialBackoff the backoff after the first failure; by default a second
     * @param maxBackoff the longest backoff; by default 5 minutes
     * @return a changed copy
     */
    public Options withBackoff(Duration initialBackoff, Duration maxBackoff) {
      return new Options(maxParallel, maxAttempts, initialBackoff, maxBackoff);
    }

    /** Returns the backoff of a piece that has failed {@code failures} times. */
    Duration backoffAfter(int failures) {
      var backoff = initialBackoff.multipliedBy(1L << Math.min(30, failures - 1));
      return backoff.compareTo(maxBackoff) < 0 ? backoff : maxBackoff;
    }
  }
}
