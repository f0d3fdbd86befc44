package io.fibry.mailbox;

import java.time.Duration;
import java.util.Comparator;
import java.util.Objects;
import java.util.Optional;

/**
 * How messages wait for an actor: how many, in which order, and what happens to one too many.
 * Immutable and thread-safe.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="mailbox"}
 *
 * <p>{@link #unbounded()} costs one atomic operation per message. All others have a short lock, to
 * drop the oldest message, free the place of a cancelled request, or wake a handler inside
 * {@code receive}. Where a message too many is only refused or waits, senders take it only when the
 * mailbox is full.
 *
 * @param <M> what can wait in it
 */
public final class Mailbox<M> {
  private static final Mailbox<Object> UNBOUNDED =
      new Mailbox<>(Integer.MAX_VALUE, Overflow.REJECT, 0, Optional.empty(), false);

  private static final Duration AGE = Duration.ofNanos(Long.MAX_VALUE);

  private final int capacity;
  private final Overflow overflow;
  private final long target; // nanoseconds; 0: any wait will do
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
   * First in, first out; at most {@code capacity} wait, beside the one being handled.
   *
   * @param capacity at least 1
   * @param overflow what happens to one too many
   * @return a mailbox
   */
  public static Mailbox<Object> bounded(int capacity, Overflow overflow) {
    if (capacity < 1) throw new IllegalArgumentException(
        "a mailbox of capacity " + capacity + " could take no message; give at least 1");
    return new Mailbox<>(capacity, Objects.requireNonNull(overflow, "overflow"), 0, Optional.empty(), false);
  }

  /**
   * The capacity at which each accepted message is answered in time: as many as are handled in half
   * of the time that remains for waiting. {@link #within} adapts by itself.
   *
   * @param limit how long an answer is of use
   * @param service how long one message takes
   * @param perSecond messages that all workers handle in a second
   * @return at least 1
   */
  public static int roomFor(Duration limit, Duration service, double perSecond) {
    if (service.isNegative())
      throw new IllegalArgumentException("a message cannot take " + service + "; give zero or more");
    if (limit.compareTo(service) <= 0) throw new IllegalArgumentException(
        "a message that takes " + service + " is never answered within " + limit + "; give a longer limit");
    if (!(perSecond > 0 && perSecond < Double.POSITIVE_INFINITY)) throw new IllegalArgumentException(
        "a mailbox of which " + perSecond + " messages are handled in a second has no size; give more than zero");
    var left = limit.minus(service);
    return (int) Math.clamp((left.toSeconds() + left.getNano() / 1e9) * perSecond / 2, 1, Integer.MAX_VALUE - 1);
  }

  /**
   * The smallest message first, equal ones as they came, without limit. A pill comes after all that
   * waited when it was sent, a task given to {@code execute} before all messages. What the
   * comparator throws, the sender gets, and nothing was sent.
   *
   * @param <M> what can wait in it
   * @param order fast and consistent; runs on the sender's thread
   * @return a mailbox
   */
  public static <M> Mailbox<M> priority(Comparator<? super M> order) {
    return new Mailbox<>(Integer.MAX_VALUE, Overflow.REJECT, 0,
        Optional.of(Objects.requireNonNull(order, "order")), false);
  }

  /**
   * {@return the same, from which the handler may choose: {@code context.receive(..)},
   * {@code context.stash()}}
   */
  public Mailbox<M> selective() {
    if (target > 0) throw new IllegalArgumentException(
        "the handler of a selective mailbox chooses what it takes, so the wait of a message cannot be foreseen; "
            + "leave out within(" + target() + ")");
    return new Mailbox<>(capacity, overflow, 0, order, true);
  }

  /**
   * The same, but also full while a new message would wait longer than {@code target} at the
   * present pace. So waits stay short at any pace, and a refused sender knows at once. While
   * nothing waits, nothing is refused. Only for mailboxes that reject or drop the newest; the
   * capacity bounds a burst.
   *
   * {@snippet class="io.fibry.OverloadSnippetsTest" region="within"}
   *
   * <p>Give it at least the time one message takes, and at most half of the time in which an answer
   * is of use. In a pool by key, messages that wait for their own key do not count.
   *
   * @param target how long a message may have to wait
   * @return a mailbox
   */
  public Mailbox<M> within(Duration target) {
    if (!target.isPositive()) throw new IllegalArgumentException(
        "in a mailbox where a message may wait for " + target + " none could wait; give more than zero");
    if (capacity == Integer.MAX_VALUE || selective) throw new IllegalArgumentException("within(" + target
        + ") is for a mailbox with a capacity, whose messages are taken in the order they came; this one is " + this);
    if (overflow != Overflow.REJECT && overflow != Overflow.DROP_NEWEST) throw new IllegalArgumentException(
        "within(" + target + ") refuses messages that would wait too long, and a mailbox that is " + this
            + " refuses none; give it REJECT or DROP_NEWEST");
    return new Mailbox<>(capacity, overflow, target.compareTo(AGE) < 0 ? target.toNanos() : AGE.toNanos(), order,
        false);
  }

  /** {@return how many may wait; {@link Integer#MAX_VALUE}: any number} */
  public int capacity() {
    return capacity;
  }

  /** {@return what happens to one too many; {@link Overflow#REJECT} without a limit} */
  public Overflow overflow() {
    return overflow;
  }

  /** {@return the order, smallest first; empty: as they came} */
  public Optional<Comparator<? super M>> order() {
    return order;
  }

  /** {@return how long a message may have to wait; zero: any time} */
  public Duration target() {
    return Duration.ofNanos(target);
  }

  /** {@return whether messages have an order of their own} */
  public boolean ordered() {
    return order.isPresent();
  }

  /** {@return whether the handler may choose from it} */
  public boolean isSelective() {
    return selective;
  }

  /** {@return whether it drops messages, the newest or the oldest} */
  public boolean drops() {
    return overflow == Overflow.DROP_NEWEST || overflow == Overflow.DROP_OLDEST;
  }

  @Override
  public String toString() {
    return (order.isPresent() ? "priority"
        : capacity == Integer.MAX_VALUE ? "unbounded" : "bounded(" + capacity + ", " + overflow + ")")
        + (target == 0 ? "" : " within " + target()) + (selective ? ", selective" : "");
  }
}
