package io.fibry.mailbox;

import io.fibry.text.Durations;
import java.time.Duration;
import java.util.Comparator;
import java.util.Objects;
import java.util.Optional;

/**
 * Describes the mailbox of an actor: its capacity, the order of its messages, and the rule for a
 * message that is sent while the mailbox is full. Immutable and thread-safe.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="mailbox"}
 *
 * <p>{@link #unbounded()} costs one atomic operation per message. All other mailboxes use a lock,
 * which is held briefly. They need the lock to drop the oldest message, to free the capacity that a
 * cancelled request takes, or to wake a handler inside {@code receive}. Senders to a bounded
 * mailbox take the lock only when the mailbox is full. There are four exceptions: a mailbox that
 * drops the oldest message, is selective, has a maximum wait, or belongs to a pool by key.
 *
 * @param <M> the type of the messages
 */
public final class Mailbox<M> {
  private static final Mailbox<Object> UNBOUNDED =
      new Mailbox<>(Integer.MAX_VALUE, Overflow.REJECT, 0, Optional.empty(), false);

  private static final Duration LONGEST_WAIT = Duration.ofNanos(Long.MAX_VALUE);

  private final int capacity;
  private final Overflow overflow;
  private final long maxWaitNanos; // 0 means that a message may wait for any time
  private final Optional<Comparator<? super M>> order;
  private final boolean isSelective;

  private Mailbox(int capacity, Overflow overflow, long maxWaitNanos, Optional<Comparator<? super M>> order,
      boolean isSelective) {
    this.capacity = capacity;
    this.overflow = overflow;
    this.maxWaitNanos = maxWaitNanos;
    this.order = order;
    this.isSelective = isSelective;
  }

  /** {@return the default mailbox: first in, first out, for any number of messages} */
  public static Mailbox<Object> unbounded() {
    return UNBOUNDED;
  }

  /**
   * {@return a mailbox, first in, first out, in which at most {@code capacity} messages wait} The
   * message that is being handled does not count.
   *
   * @param capacity at least 1
   * @param overflow the rule for a message that is sent while the mailbox is full
   */
  public static Mailbox<Object> bounded(int capacity, Overflow overflow) {
    if (capacity < 1) throw new IllegalArgumentException(
        "a mailbox of capacity " + capacity + " could take no message; give at least 1");
    return new Mailbox<>(capacity, Objects.requireNonNull(overflow, "overflow"), 0, Optional.empty(), false);
  }

  /**
   * {@return the capacity at which each accepted message is answered within a limit} The time that
   * a message may wait is {@code limit} minus {@code service}. The capacity is the number of
   * messages that are handled in half of this time, and at least 1. If you do not know this pace,
   * use {@link #withMaxWait}, which measures the pace.
   *
   * @param limit the time after which an answer is useless
   * @param service how long the handling of one message takes
   * @param messagesPerSecond how many messages all workers together handle per second
   */
  public static int capacityFor(Duration limit, Duration service, double messagesPerSecond) {
    if (Objects.requireNonNull(service, "service").isNegative())
      throw new IllegalArgumentException("a message cannot take " + Durations.text(service) + "; give zero or more");
    if (Objects.requireNonNull(limit, "limit").compareTo(service) <= 0) throw new IllegalArgumentException(
        "a message that takes " + Durations.text(service) + " is never answered within " + Durations.text(limit)
            + "; give a longer limit");
    if (!(messagesPerSecond > 0 && messagesPerSecond < Double.POSITIVE_INFINITY)) throw new IllegalArgumentException(
        "there is no capacity for " + messagesPerSecond
            + " messages handled per second; give a finite number above zero");
    var wait = limit.minus(service);
    double seconds = wait.toSeconds() + wait.getNano() / 1e9;
    return (int) Math.clamp(seconds * messagesPerSecond / 2, 1, Integer.MAX_VALUE - 1);
  }

  /**
   * {@return a mailbox for any number of messages, from which the smallest message is handled
   * first} Equal messages are handled in the order in which they were sent. A poison pill comes
   * after all messages that were queued when it was sent. A task given to {@code execute} comes
   * before all messages. If the comparator throws, the sender gets the exception, and the message
   * is not sent.
   *
   * @param <M> the type of the messages
   * @param order fast and consistent. It runs on the sender's thread, under the mailbox's lock, so
   * it must not block forever
   */
  public static <M> Mailbox<M> priority(Comparator<? super M> order) {
    return new Mailbox<>(Integer.MAX_VALUE, Overflow.REJECT, 0,
        Optional.of(Objects.requireNonNull(order, "order")), false);
  }

  /**
   * {@return a copy whose messages the handler may choose: by {@code context.receive(..)} and
   * {@code context.stash()}}
   */
  public Mailbox<M> selective() {
    if (maxWaitNanos > 0) throw new IllegalArgumentException(
        "the handler of a selective mailbox chooses what it takes, so the wait of a message cannot be foreseen; "
            + "leave out withMaxWait(" + Durations.text(maxWait()) + ")");
    return new Mailbox<>(capacity, overflow, 0, order, true);
  }

  /**
   * {@return a copy that also refuses a message if it would wait longer than {@code target}} The
   * wait is predicted from the pace at which messages are handled at present. Waits thus stay short
   * at any pace, and the sender of a refused message is notified at once. While no message is
   * queued, no message is refused. The mailbox needs a capacity, which still limits a burst of
   * messages, and the rule {@link Overflow#REJECT} or {@link Overflow#DROP_NEWEST}.
   * {@snippet class="io.fibry.OverloadSnippetsTest" region="within"}
   *
   * <p>Choose at least the time that the handling of one message takes, and at most half of the
   * time after which an answer is useless. In a pool by key, the prediction ignores messages that
   * wait only for an earlier message with an equal key.
   *
   * @param target how long a message may wait
   */
  public Mailbox<M> withMaxWait(Duration target) {
    if (!Objects.requireNonNull(target, "target").isPositive()) throw new IllegalArgumentException(
        "messages that may wait " + Durations.text(target) + " could not wait at all; give more than zero");
    if (capacity == Integer.MAX_VALUE || isSelective)
      throw new IllegalArgumentException("withMaxWait(" + Durations.text(target)
          + ") is for a mailbox with a capacity, whose messages are taken in the order they came; this one is " + this);
    if (overflow != Overflow.REJECT && overflow != Overflow.DROP_NEWEST) throw new IllegalArgumentException(
        "withMaxWait(" + Durations.text(target) + ") refuses messages that would wait too long, and a mailbox that is "
            + this
            + " refuses none; give it REJECT or DROP_NEWEST");
    long nanos = target.compareTo(LONGEST_WAIT) < 0 ? target.toNanos() : LONGEST_WAIT.toNanos();
    return new Mailbox<>(capacity, overflow, nanos, order, false);
  }

  /** {@return how many messages may wait; {@link Integer#MAX_VALUE} means any number} */
  public int capacity() {
    return capacity;
  }

  /**
   * {@return the rule for a message that is sent while the mailbox is full; {@link Overflow#REJECT}
   * if the mailbox has no capacity}
   */
  public Overflow overflow() {
    return overflow;
  }

  /** {@return the order of a priority mailbox, or empty if messages keep the order of arrival} */
  public Optional<Comparator<? super M>> order() {
    return order;
  }

  /** {@return how long a message may wait; zero means any time} */
  public Duration maxWait() {
    return Duration.ofNanos(maxWaitNanos);
  }

  /** {@return whether this is a priority mailbox} */
  public boolean isPriority() {
    return order.isPresent();
  }

  /** {@return whether the handler may choose messages from the mailbox} */
  public boolean isSelective() {
    return isSelective;
  }

  /** {@return whether a full mailbox drops messages, the newest or the oldest} */
  public boolean isLossy() {
    return overflow == Overflow.DROP_NEWEST || overflow == Overflow.DROP_OLDEST;
  }

  @Override
  public String toString() {
    return (order.isPresent() ? "priority"
        : capacity == Integer.MAX_VALUE ? "unbounded" : "bounded(" + capacity + ", " + overflow + ")")
        + (maxWaitNanos == 0 ? "" : " within " + Durations.text(maxWait())) + (isSelective ? ", selective" : "");
  }
}
