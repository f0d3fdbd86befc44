package io.fibry.pubsub;

import io.fibry.ActorBuilder;
import io.fibry.Handler;
import java.util.Objects;
import java.util.function.UnaryOperator;

/**
 * A value that many read, change and follow; followers see changes in order, the last one always. A
 * value equal to the present one is no change. Thread-safe.
 * {@snippet class="io.fibry.PubsubSnippetsTest" region="sharedValue"}
 *
 * <p>It has no end of its own. One whose builder is of the root and has no name is garbage with its
 * followers, once nobody refers to it and none of them is at work; elsewhere the scope keeps a
 * follower, and a follower keeps it, until its subscription is closed or the scope is.
 *
 * @param <T> the value; let it be immutable
 */
public interface SharedValue<T> {

  /**
   * A shared value.
   *
   * @param <T> the value
   * @param how makes the actors of the followers: scope, name, strategy, failure policy. Not their
   * mailbox: at most one value is under way to each
   * @param initial what it is at first; never null
   * @return the shared value
   */
  static <T> SharedValue<T> of(ActorBuilder<?> how, T initial) {
    return new AtomicSharedValue<>(Objects.requireNonNull(how, "how"), Objects.requireNonNull(initial, "initial"));
  }

  /** {@return what it is now} */
  T value();

  /**
   * Changes it.
   *
   * @param value never null
   */
  void set(T value);

  /**
   * Changes it if it is what was expected.
   *
   * @param expected compared by {@code equals}
   * @param value never null
   * @return true if it was
   */
  boolean compareAndSet(T expected, T value);

  /**
   * Changes it by a function of what it is.
   *
   * @param change free of side effects: run again where another change came first
   * @return what it is then
   */
  T update(UnaryOperator<T> change);

  /**
   * Tells a new actor the present value first, then each change, one at a time. One that is slow is
   * told the latest only; and perhaps again what it was told before, where that changed and changed
   * back meanwhile. A value that it failed at is for the builder's failure policy, and is not told
   * again.
   *
   * @param follower what it does with each; it may change the value itself
   * @return its place
   */
  Subscription subscribe(Handler<T> follower);
}
