package io.fibry.mailbox;

import java.time.Duration;
import java.util.Comparator;
import java.util.Objects;
import java.util.Optional;

/**
 * How messages wait for an actor: how many, in which order, and what happens to one too many.
 * Immutable.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="mailbox"}
 *
 * <p>The plain one, {@link #unbounded()}, costs one atomic operation a message. All others have one
 * short lock, which buys what the plain one cannot do: dropping the oldest, freeing the place of a
 * cancelled request at once, waking a handler that waits inside {@code receive}. Where one too many
 * is refused or waits, and nothing else is asked of the mailbox, senders take it only when it is
 * full.
 *
 * @param <M> what can wait in it
 */
public final class Mailbox<M> {
  private static final Mailbox<Object> UNBOUNDED =
      new Mailbox<>(Integer.MAX_VALUE, Overflow.REJECT, 0, Optional.empty(), false);

  private static final Duration AGE = Duration.ofNanos(Long.MAX_VALUE);

  private final int capacity; // Integer.MAX_VALUE: no limit
  private final Overflow overflow;
  private final long target; // nanoseconds that a message may have to wait; 0: it does not matter
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

  /**
   * First in, first out; no limit. What an actor has unless told otherwise.
   *
   * @return always the same one
   */
  public static Mailbox<Object> unbounded() {
    return UNBOUNDED;
  }

  /**
   * First in, first out; at most {@code capacity} wait, beside the message being handled.
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
   * How many may wait so that who gets in is answered in time: as many as are handled in half of
   * the time that the deadline leaves for waiting. {@link #within} needs no rate, and follows it
   * when it changes.
   *
   * @param deadline after which the answer is of no use
   * @param service how long one message takes to be handled
   * @param perSecond how many are handled in a second, by all workers together
   * @return a capacity, at least 1
   */
  public static int roomFor(Duration deadline, Duration service, double perSecond) {
    if (service.isNegative())
      throw new IllegalArgumentException("a message cannot take " + service + "; give zero or more");
    if (deadline.compareTo(service) <= 0) throw new IllegalArgumentException(
        "a message that takes " + service + " is never answered within " + deadline + "; give a longer deadline");
    if (!(perSecond > 0 && perSecond < Double.POSITIVE_INFINITY)) throw new IllegalArgumentException(
        "a mailbox of which " + perSecond + " messages are handled in a second has no size; give more than zero");
    var left = deadline.minus(service);
    return (int) Math.clamp((left.toSeconds() + left.getNano() / 1e9) * perSecond / 2, 1, Integer.MAX_VALUE - 1);
  }

  /**
   * The smallest first; equal ones in the order they came; no limit. A pill comes after all that
   * waited when it was sent, and a task given to {@code execute} before all messages. The order is
   * asked on the sender's thread, so what it throws, the sender gets, and nothing was sent.
   *
   * @param <M> what can wait in it
   * @param order of messages; it must be quick and must not change its mind
   * @return a mailbox
   */
  public static <M> Mailbox<M> priority(Comparator<? super M> order) {
    return new Mailbox<>(Integer.MAX_VALUE, Overflow.REJECT, 0,
        Optional.of(Objects.requireNonNull(order, "order")), false);
  }

  /**
   * The same, and the handler may choose from it: {@code context.receive(..)},
   * {@code context.stash()}.
   *
   * @return a mailbox
   */
  public Mailbox<M> selective() {
    if (target > 0) throw new IllegalArgumentException(
        "the handler of a selective mailbox chooses what it takes, so nobody knows how long a message would wait; "
            + "leave out within("
            + Duration.ofNanos(target) + ")");
    return new Mailbox<>(capacity, overflow, 0, order, true);
  }

  /**
   * The same, and it is full too while a message would have to wait longer than this, by the pace
   * at which those before it are taken. So the wait stays short however fast or slow they are
   * handled; who is refused hears it at once. While nothing waits, nothing is refused. For
   * mailboxes that refuse or drop the newest; the capacity still bounds a burst, which is there
   * before anything has waited.
   *
   * {@snippet class="io.fibry.OverloadSnippetsTest" region="within"}
   *
   * <p>Give it no less than a message takes to be handled, and no more than half of the time in
   * which an answer is of use. In a pool by key, those who wait for another of their own key do not
   * count.
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
        "within(" + target + ") refuses who would wait too long, and a mailbox that is " + this
            + " refuses nobody; give it REJECT or DROP_NEWEST");
    return new Mailbox<>(capacity, overflow, target.compareTo(AGE) < 0 ? target.toNanos() : AGE.toNanos(), order,
        false);
  }

  /**
   * How many messages may wait.
   *
   * @return {@link Integer#MAX_VALUE} where there is no limit
   */
  public int capacity() {
    return capacity;
  }

  /**
   * What happens to one message too many.
   *
   * @return {@link Overflow#REJECT} where there is no limit
   */
  public Overflow overflow() {
    return overflow;
  }

  /**
   * The order in which messages are handled, the smallest first.
   *
   * @return empty: the order in which they came
   */
  public Optional<Comparator<? super M>> order() {
    return order;
  }

  /**
   * How long a message may have to wait.
   *
   * @return zero: it does not matter
   */
  public Duration target() {
    return Duration.ofNanos(target);
  }

  /**
   * Whether it has an order of its own.
   *
   * @return true for a priority mailbox
   */
  public boolean ordered() {
    return order.isPresent();
  }

  /**
   * Whether the handler may choose from it.
   *
   * @return true after {@link #selective}
   */
  public boolean isSelective() {
    return selective;
  }

  /**
   * Whether it drops what is too much, the newest or the oldest.
   *
   * @return false where the sender waits or is refused
   */
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
