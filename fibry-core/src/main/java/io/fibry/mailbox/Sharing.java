package io.fibry.mailbox;

import java.util.Objects;
import java.util.function.Function;
import java.util.function.ToIntFunction;

/**
 * How several workers share one mailbox: how many there are, and what they may handle at the same
 * time. For code that builds on builders; users take {@code Pools}. Immutable and thread-safe.
 *
 * @param <M> the messages
 */
public final class Sharing<M> {
  final int least;
  final int most;
  final int permits;
  final ToIntFunction<Object> weight; // null: each weighs 1
  final Function<Object, ?> key; // null: no message waits for another
  final boolean once;

  private Sharing(int least, int most, int permits, ToIntFunction<Object> weight, Function<Object, ?> key,
      boolean once) {
    this.least = least;
    this.most = most;
    this.permits = permits;
    this.weight = weight;
    this.key = key;
    this.once = once;
  }

  /**
   * So many workers, one more whenever a message waits and nobody is free, one less after each
   * calm.
   *
   * @param least at least 0
   * @param most at least 1, and not less than the least
   * @return a way to share
   */
  public static Sharing<Object> scaling(int least, int most) {
    if (least < 0) throw new IllegalArgumentException("a pool cannot keep " + least + " workers; give 0 or more");
    if (most < Math.max(1, least)) throw new IllegalArgumentException("a pool of at least " + least
        + " workers cannot have " + most + " at most; give " + Math.max(1, least) + " or more");
    return new Sharing<>(least, most, most, null, null, false);
  }

  /**
   * As many workers as there is work, each with a fresh state for each message.
   *
   * @return a way to share
   */
  public static Sharing<Object> perMessage() {
    return new Sharing<>(0, Integer.MAX_VALUE, Integer.MAX_VALUE, null, null, true);
  }

  /**
   * As many workers as the permits allow; a message holds some of them while it is handled.
   *
   * @param <M> the messages
   * @param permits at least 1
   * @param weight how many permits a message needs: at least 1, at most all; asked on the sender's
   * thread
   * @return a way to share
   */
  @SuppressWarnings("unchecked") // only messages that passed as M are weighed
  public static <M> Sharing<M> weighted(int permits, ToIntFunction<? super M> weight) {
    if (permits < 1)
      throw new IllegalArgumentException("a pool of " + permits + " permits could handle no message; give at least 1");
    return new Sharing<>(0, permits, permits, (ToIntFunction<Object>) Objects.requireNonNull(weight, "weight"), null,
        false);
  }

  /**
   * So many workers; messages of one key are handled in order, one at a time.
   *
   * @param <M> the messages
   * @param workers at least 1
   * @param key what messages have in common that must not be handled side by side; asked on the
   * sender's thread, compared by {@code equals}
   * @return a way to share
   */
  @SuppressWarnings("unchecked") // as in weighted
  public static <M> Sharing<M> byKey(int workers, Function<? super M, ?> key) {
    if (workers < 1)
      throw new IllegalArgumentException("a pool of " + workers + " workers could handle no message; give at least 1");
    return new Sharing<>(workers, workers, workers, null, (Function<Object, ?>) Objects.requireNonNull(key, "key"),
        false);
  }

  /** {@return how many workers there are before there is work} */
  public int least() {
    return least;
  }

  /** {@return how many workers there are at most} */
  public int most() {
    return most;
  }

  /** {@return whether it needs to look at messages} */
  public boolean looks() {
    return weight != null || key != null;
  }

  /** {@return whether messages of one key are kept in order} */
  public boolean byKey() {
    return key != null;
  }

  /** {@return whether each message gets a fresh state} */
  public boolean once() {
    return once;
  }

  @Override
  public String toString() {
    if (key != null) return "pool of " + most + " by key";
    if (weight != null) return "pool of " + permits + " permits";
    if (once) return "worker per message";
    return "pool of " + (least == most ? "" : least + " to ") + most;
  }
}
