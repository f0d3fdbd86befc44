package io.fibry.mailbox;

import io.fibry.text.Durations;
import java.time.Duration;
import java.util.Comparator;
import java.util.Objects;
import java.util.Optional;

/**
 * How messages wait for an actor: how many, in which order, and what happens to one too many.
 * Immutable and thread-safe.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="mailbox"}
 *
 * <p>{@link #unbounded()} costs one atomic operation per message. All others use a short lock, to
 * drop the oldest message, free the place of a cancelled request, or wake a handler inside
 * {@code receive}. Where the overflow only refuses messages or makes senders wait, senders take the
 * lock only when the mailbox is full.
 *
 * @param <M> messages
 */
public final class Mailbox<M> {
  private static final Mailbox<Object> UNBOUNDED =
      new Mailbox<>(Integer.MAX_VALUE, Overflow.REJECT, 0, Optional.empty(), false);

  private static final Duration AGE = Duration.ofNanos(Long.MAX_VALUE);

  private final int capacity;
  private final Overflow overflow;
  private final long target; // in nanoseconds; 0 means that a message may wait for any time
  private final Optional<Comparator<? super M>> order;
  private final boolean selective;

  private Mailbox(int capacity, Overflow overflow, long target, Optional<Comparator<? super M>> order,
      boolean selective) {
    this.capacity = capacity;
    this.overflow = overflow;
    this.target = target;
    this.order = order;
    this.selective = selective;
  }

  /** {@return the default, always the same: first in, first out, without limit} */
  public static Mailbox<Object> unbounded() {
    return UNBOUNDED;
  }

  /**
   * {@return a mailbox, first in, first out, where at most {@code capacity} messages wait besides
   * the one being handled}
   *
   * @param capacity at least 1
   * @param overflow decides about a message that comes while the mailbox is full
   */
  public static Mailbox<Object> bounded(int capacity, Overflow overflow) {
    if (capacity < 1) throw new IllegalArgumentException(
        "a mailbox of capacity " + capacity + " could take no message; give at least 1");
    return new Mailbox<>(capacity, Objects.requireNonNull(overflow, "overflow"), 0, Optional.empty(), false);
  }

  /**
   * {@return the capacity at which each accepted message is answered in time: as many messages as
   * are handled in half of the time that is left for waiting, and at least 1} {@link #withMaxWait}
   * adapts by itself.
   *
   * @param limit how long an answer is useful
   * @param service how long one message takes
   * @param perSecond messages that all workers handle per second
   */
  public static int capacityFor(Duration limit, Duration service, double perSecond) {
    if (Objects.requireNonNull(service, "service").isNegative())
      throw new IllegalArgumentException("a message cannot take " + Durations.text(service) + "; give zero or more");
    if (Objects.requireNonNull(limit, "limit").compareTo(service) <= 0) throw new IllegalArgumentException(
        "a message that takes " + Durations.text(service) + " is never answered within " + Durations.text(limit)
            + "; give a longer limit");
    if (!(perSecond > 0 && perSecond < Double.POSITIVE_INFINITY)) throw new IllegalArgumentException(
        "there is no capacity for " + perSecond + " messages handled per second; give more than zero");
    var left = limit.minus(service);
    return (int) Math.clamp((left.toSeconds() + left.getNano() / 1e9) * perSecond / 2, 1, Integer.MAX_VALUE - 1);
  }

  /**
   * {@return a mailbox without a limit that hands out the smallest message first, and equal
   * messages in the order in which they came} A pill comes after all messages that were queued when
   * it was sent, a task given to {@code execute} before all messages. An exception of the
   * comparator goes to the sender, and the message is not sent.
   *
   * @param <M> messages
   * @param order fast and consistent; runs on the sender's thread, under the mailbox's lock, so it
   * must return
   */
  public static <M> Mailbox<M> priority(Comparator<? super M> order) {
    return new Mailbox<>(Integer.MAX_VALUE, Overflow.REJECT, 0,
        Optional.of(Objects.requireNonNull(order, "order")), false);
  }

  /**
   * {@return a copy from which the handler may choose: {@code context.receive(..)},
   * {@code context.stash()}}
   */
  public Mailbox<M> selective() {
    if (target > 0) throw new IllegalArgumentException(
        "the handler of a selective mailbox chooses what it takes, so the wait of a message cannot be foreseen; "
            + "leave out withMaxWait(" + Durations.text(maxWait()) + ")");
    return new Mailbox<>(capacity, overflow, 0, order, true);
  }

  /**
   * {@return a copy that also refuses a message that would wait longer than {@code target} at the
   * present pace} So waits stay short at any pace, and a refused sender knows at once. While no
   * message is queued, no message is refused. Only for mailboxes that reject or drop the newest;
   * the capacity bounds a burst.
   * {@snippet class="io.fibry.OverloadSnippetsTest" region="within"}
   *
   * <p>Give it at least the time that one message takes, and at most half of the time in which an
   * answer is useful. In a pool by key, messages that wait for their own key do not count.
   *
   * @param target how long a message may wait
   */
  public Mailbox<M> withMaxWait(Duration target) {
    if (!Objects.requireNonNull(target, "target").isPositive()) throw new IllegalArgumentException(
        "messages that may wait " + Durations.text(target) + " could not wait at all; give more than zero");
    if (capacity == Integer.MAX_VALUE || selective)
      throw new IllegalArgumentException("withMaxWait(" + Durations.text(target)
          + ") is for a mailbox with a capacity, whose messages are taken in the order they came; this one is " + this);
    if (overflow != Overflow.REJECT && overflow != Overflow.DROP_NEWEST) throw new IllegalArgumentException(
        "withMaxWait(" + Durations.text(target) + ") refuses messages that would wait too long, and a mailbox that is "
            + this
            + " refuses none; give it REJECT or DROP_NEWEST");
    return new Mailbox<>(capacity, overflow, target.compareTo(AGE) < 0 ? target.toNanos() : AGE.toNanos(), order,
        false);
  }

  /** {@return how many messages may wait, or {@link Integer#MAX_VALUE} for any number} */
  public int capacity() {
    return capacity;
  }

  /**
   * {@return the rule for a message that comes while the mailbox is full; {@link Overflow#REJECT}
   * without a limit}
   */
  public Overflow overflow() {
    return overflow;
  }

  /** {@return the order, smallest first, or empty for the order of arrival} */
  public Optional<Comparator<? super M>> order() {
    return order;
  }

  /** {@return how long a message may wait, or zero for any time} */
  public Duration maxWait() {
    return Duration.ofNanos(target);
  }

  /** {@return whether messages have an order of their own} */
  public boolean isOrdered() {
    return order.isPresent();
  }

  /** {@return whether the handler may choose from it} */
  public boolean isSelective() {
    return selective;
  }

  /** {@return whether it drops messages, the newest or the oldest} */
  public boolean isLossy() {
    return overflow == Overflow.DROP_NEWEST || overflow == Overflow.DROP_OLDEST;
  }

  @Override
  public String toString() {
    return (order.isPresent() ? "priority"
        : capacity == Integer.MAX_VALUE ? "unbounded" : "bounded(" + capacity + ", " + overflow + ")")
        + (target == 0 ? "" : " within " + Durations.text(maxWait())) + (selective ? ", selective" : "");
  }
}
