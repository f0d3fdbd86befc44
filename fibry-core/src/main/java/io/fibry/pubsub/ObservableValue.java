package io.fibry.pubsub;

import io.fibry.ActorBuilder;
import io.fibry.Handler;
import java.util.Objects;
import java.util.function.UnaryOperator;

/**
 * A value to read, change and follow. Followers see changes in order, and the last one always. An
 * equal value is no change. Thread-safe.
 * {@snippet class="io.fibry.PubsubSnippetsTest" region="observableValue"}
 *
 * <p>With a nameless builder of the root scope it is garbage once unreferenced and idle. Elsewhere
 * the scope keeps a follower, and that the value, until its subscription or the scope is closed.
 *
 * @param <T> the value, best immutable
 */
public interface ObservableValue<T> {

  /**
   * A shared value.
   *
   * @param <T> the value
   * @param builder makes the followers' actors; its mailbox is ignored
   * @param initial never null
   * @return the value
   */
  static <T> ObservableValue<T> of(ActorBuilder<?> builder, T initial) {
    return new AtomicObservableValue<>(Objects.requireNonNull(builder, "builder"),
        Objects.requireNonNull(initial, "initial"));
  }

  /** {@return the present value} */
  T value();

  /**
   * Sets the value.
   *
   * @param value never null
   */
  void set(T value);

  /**
   * Sets the value if it equals the expected one.
   *
   * @param expected never null
   * @param value never null
   * @return true if so
   */
  boolean compareAndSet(T expected, T value);

  /**
   * Changes the value.
   *
   * @param change free of side effects; may run again
   * @return the new value
   */
  T update(UnaryOperator<T> change);

  /**
   * Tells a new actor the value, then each change, one at a time. A slow follower is told the
   * latest; and perhaps again what it was told before. A value at which it fails is for the
   * builder's policy, and is not told again.
   *
   * @param follower may change the value
   * @return the subscription
   */
  Subscription subscribe(Handler<T> follower);
}
