package io.fibry.spi;

import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToIntFunction;

/**
 * How several workers share one mailbox. For building blocks; programs use {@code Pools}. Immutable
 * and thread-safe.
 *
 * @param <M> messages
 */
public final class PoolPolicy<M> {
  private final int least;
  private final int most;
  private final int permits;
  private final Optional<ToIntFunction<? super M>> weight;
  private final Optional<Function<? super M, ?>> key;
  private final boolean once;

  private PoolPolicy(int least, int most, int permits, Optional<ToIntFunction<? super M>> weight,
      Optional<Function<? super M, ?>> key, boolean once) {
    this.least = least;
    this.most = most;
    this.permits = permits;
    this.weight = weight;
    this.key = key;
    this.once = once;
  }

  /**
   * {@return the sharing of {@code least} to {@code most} workers} One is added whenever a message
   * waits and none is free; idle ones end after a while.
   *
   * @param least at least 0
   * @param most at least 1 and {@code least}
   */
  public static PoolPolicy<Object> scaling(int least, int most) {
    if (least < 0) throw new IllegalArgumentException("a pool cannot keep " + least + " workers; give 0 or more");
    if (most < Math.max(1, least)) throw new IllegalArgumentException("a pool of at least " + least
        + " workers cannot have " + most + " at most; give " + Math.max(1, least) + " or more");
    return new PoolPolicy<>(least, most, most, Optional.empty(), Optional.empty(), false);
  }

  /** {@return the sharing of one worker per message, with a fresh state for each} */
  public static PoolPolicy<Object> perMessage() {
    return new PoolPolicy<>(0, Integer.MAX_VALUE, Integer.MAX_VALUE, Optional.empty(), Optional.empty(), true);
  }

  /**
   * {@return the sharing of as many workers as the permits allow} A message holds its permits while
   * it is handled.
   *
   * @param <M> messages
   * @param permits at least 1
   * @param weight permits of a message, 1 to {@code permits}; runs on the sender's thread
   */
  public static <M> PoolPolicy<M> weighted(int permits, ToIntFunction<? super M> weight) {
    if (permits < 1)
      throw new IllegalArgumentException("a pool of " + permits + " permits could handle no message; give at least 1");
    return new PoolPolicy<>(0, permits, permits, Optional.of(Objects.requireNonNull(weight, "weight")),
        Optional.empty(), false);
  }

  /**
   * {@return the sharing of a fixed number of workers} Messages of one key are handled in order,
   * one at a time.
   *
   * @param <M> messages
   * @param workers at least 1
   * @param key of a message, compared by {@code equals}; runs on the sender's thread
   */
  public static <M> PoolPolicy<M> byKey(int workers, Function<? super M, ?> key) {
    if (workers < 1)
      throw new IllegalArgumentException("a pool of " + workers + " workers could handle no message; give at least 1");
    return new PoolPolicy<>(workers, workers, workers, Optional.empty(),
        Optional.of(Objects.requireNonNull(key, "key")), false);
  }

  /** {@return how many workers stay without work} */
  public int minWorkers() {
    return least;
  }

  /** {@return how many workers there are at most} */
  public int maxWorkers() {
    return most;
  }

  /** {@return how many permits there are} */
  public int permits() {
    return permits;
  }

  /** {@return the permits that a message needs, or empty if each needs one} */
  public Optional<ToIntFunction<? super M>> weight() {
    return weight;
  }

  /** {@return the key of a message, or empty if messages have no key} */
  public Optional<Function<? super M, ?>> key() {
    return key;
  }

  /** {@return whether messages have weights or keys} */
  public boolean isContentAware() {
    return weight.isPresent() || key.isPresent();
  }

  /** {@return whether messages of one key are kept in order} */
  public boolean isByKey() {
    return key.isPresent();
  }

  /** {@return whether each message gets a fresh state} */
  public boolean isPerMessage() {
    return once;
  }

  @Override
  public String toString() {
    if (key.isPresent()) return "pool of " + most + " by key";
    if (weight.isPresent()) return "pool of " + permits + " permits";
    if (once) return "worker per message";
    return "pool of " + (least == most ? "" : least + " to ") + most;
  }
}
