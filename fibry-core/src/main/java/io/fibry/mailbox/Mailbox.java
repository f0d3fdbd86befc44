package io.fibry.mailbox;

import java.util.Comparator;
import java.util.Objects;

/**
 * How messages wait for an actor: how many, in which order, and what happens to one too many. Immutable.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="mailbox"}
 *
 * <p>The plain one, {@link #unbounded()}, costs one atomic operation a message. All others share one short lock, which buys what the plain one cannot do: dropping the oldest, freeing the place of a
 * cancelled request at once, waking a handler that waits inside {@code receive}.
 *
 * @param <M> what can wait in it
 */
public final class Mailbox<M> {
  private static final Mailbox<Object> UNBOUNDED = new Mailbox<>(Integer.MAX_VALUE, Overflow.REJECT, null, false);

  final int capacity; // Integer.MAX_VALUE: no limit
  final Overflow overflow;
  final Comparator<Object> order; // null: as they came
  final boolean selective;

  private Mailbox(int capacity, Overflow overflow, Comparator<Object> order, boolean selective) {
    this.capacity = capacity;
    this.overflow = overflow;
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
    if (capacity < 1) throw new IllegalArgumentException("a mailbox of capacity " + capacity + " could take no message; give at least 1");
    return new Mailbox<>(capacity, Objects.requireNonNull(overflow, "overflow"), null, false);
  }

  /**
   * The smallest first; equal ones in the order they came; no limit. A pill comes after all that waited when it was sent, and a task given to {@code execute} before all messages. The order is asked on
   * the sender's thread, so what it throws, the sender gets, and nothing was sent.
   *
   * @param <M> what can wait in it
   * @param order of messages; it must be quick and must not change its mind
   * @return a mailbox
   */
  @SuppressWarnings("unchecked") // only messages that passed as M reach the comparator
  public static <M> Mailbox<M> priority(Comparator<? super M> order) {
    return new Mailbox<>(Integer.MAX_VALUE, Overflow.REJECT, (Comparator<Object>) Objects.requireNonNull(order, "order"), false);
  }

  /**
   * The same, and the handler may choose from it: {@code context.receive(..)}, {@code context.stash()}.
   *
   * @return a mailbox
   */
  public Mailbox<M> selective() {
    return new Mailbox<>(capacity, overflow, order, true);
  }

  /**
   * Whether it has an order of its own.
   *
   * @return true for a priority mailbox
   */
  public boolean ordered() {
    return order != null;
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
    return (order != null ? "priority" : capacity == Integer.MAX_VALUE ? "unbounded" : "bounded(" + capacity + ", " + overflow + ")") + (selective ? ", selective" : "");
  }
}
