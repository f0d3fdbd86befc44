package io.fibry.spi;

import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToIntFunction;

/**
 * Describes how the workers of a pool share one mailbox. Blocks use this class; programs use
 * {@code Pools}. Immutable and thread-safe.
 *
 * @param <M> the type of the messages
 */
public final class PoolSpec<M> {
  private final int minWorkers;
  private final int maxWorkers;
  private final int permits;
  private final Optional<ToIntFunction<? super M>> weight;
  private final Optional<Function<? super M, ?>> key;
  private final boolean isPerMessage;

  private PoolSpec(int minWorkers, int maxWorkers, int permits, Optional<ToIntFunction<? super M>> weight,
      Optional<Function<? super M, ?>> key, boolean isPerMessage) {
    this.minWorkers = minWorkers;
    this.maxWorkers = maxWorkers;
    this.permits = permits;
    this.weight = weight;
    this.key = key;
    this.isPerMessage = isPerMessage;
  }

  /**
   * {@return the description of {@code minWorkers} to {@code maxWorkers} workers} If a message
   * waits and no worker is free, a worker is added. Idle workers end after a while.
   *
   * @param minWorkers how many workers stay while they are idle; at least 0
   * @param maxWorkers at least 1 and at least {@code minWorkers}
   */
  public static PoolSpec<Object> scaling(int minWorkers, int maxWorkers) {
    if (minWorkers < 0)
      throw new IllegalArgumentException("a pool cannot keep " + minWorkers + " workers; give 0 or more");
    if (maxWorkers < Math.max(1, minWorkers)) throw new IllegalArgumentException("a pool of at least " + minWorkers
        + " workers cannot have " + maxWorkers + " at most; give " + Math.max(1, minWorkers) + " or more");
    return new PoolSpec<>(minWorkers, maxWorkers, maxWorkers, Optional.empty(), Optional.empty(), false);
  }

  /** {@return the description of one worker, with a new state, for each message} */
  public static PoolSpec<Object> perMessage() {
    return new PoolSpec<>(0, Integer.MAX_VALUE, Integer.MAX_VALUE, Optional.empty(), Optional.empty(), true);
  }

  /**
   * {@return the description of at most {@code permits} workers} A message holds as many permits as
   * its weight while it is handled.
   *
   * @param <M> the type of the messages
   * @param permits how many permits there are; at least 1
   * @param weight returns how many permits a message needs, from 1 to {@code permits}; runs on the
   * sender's thread
   */
  public static <M> PoolSpec<M> weighted(int permits, ToIntFunction<? super M> weight) {
    if (permits < 1)
      throw new IllegalArgumentException("a pool of " + permits + " permits could handle no message; give at least 1");
    return new PoolSpec<>(0, permits, permits, Optional.of(Objects.requireNonNull(weight, "weight")),
        Optional.empty(), false);
  }

  /**
   * {@return the description of a fixed number of workers} Messages with equal keys are handled one
   * at a time, in the order in which they were sent.
   *
   * @param <M> the type of the messages
   * @param workers at least 1
   * @param key returns the key of a message, compared by {@code equals}; runs on the sender's
   * thread
   */
  public static <M> PoolSpec<M> byKey(int workers, Function<? super M, ?> key) {
    if (workers < 1)
      throw new IllegalArgumentException("a pool of " + workers + " workers could handle no message; give at least 1");
    return new PoolSpec<>(workers, workers, workers, Optional.empty(),
        Optional.of(Objects.requireNonNull(key, "key")), false);
  }

  /** {@return how many workers stay while they are idle} */
  public int minWorkers() {
    return minWorkers;
  }

  /** {@return how many workers there are at most} */
  public int maxWorkers() {
    return maxWorkers;
  }

  /** {@return how many permits there are} */
  public int permits() {
    return permits;
  }

  /** {@return the function for a message's permits, or empty if each message needs one permit} */
  public Optional<ToIntFunction<? super M>> weight() {
    return weight;
  }

  /** {@return the function for a message's key, or empty if messages have no key} */
  public Optional<Function<? super M, ?>> key() {
    return key;
  }

  /** {@return whether messages have weights or keys} */
  public boolean isContentAware() {
    return weight.isPresent() || key.isPresent();
  }

  /** {@return whether messages with equal keys are handled in order} */
  public boolean isByKey() {
    return key.isPresent();
  }

  /** {@return whether each message gets a new worker, with a new state} */
  public boolean isPerMessage() {
    return isPerMessage;
  }

  @Override
  public String toString() {
    if (key.isPresent()) return "pool of " + maxWorkers + " by key";
    if (weight.isPresent()) return "pool of " + permits + " permits";
    if (isPerMessage) return "worker per message";
    return "pool of " + (minWorkers == maxWorkers ? "" : minWorkers + " to ") + maxWorkers;
  }
}
