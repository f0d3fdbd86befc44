package io.fibry.pubsub;

import io.fibry.ActorBuilder;
import io.fibry.Handler;
import java.util.Objects;
import java.util.function.UnaryOperator;

/**
 * A value that many threads can read, change and subscribe to. Its subscribers, the followers, see
 * changes in order, and always the last change. Setting an equal value does not count as a change.
 * Thread-safe.
 * {@snippet class="io.fibry.PubsubSnippetsTest" region="observableValue"}
 *
 * <p>If the builder has no name and belongs to the root scope, the value becomes garbage when it is
 * unreferenced and its followers are idle. Otherwise the scope refers to each follower, and the
 * follower refers to the value, until the subscription or the scope is closed.
 *
 * @param <T> the value, best immutable
 */
public interface ObservableValue<T> {

  /**
   * Makes a shared value.
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

  /** {@return the current value} */
  T value();

  /**
   * Sets the value.
   *
   * @param value never null
   */
  void set(T value);

  /**
   * Sets the value if the present value equals {@code expected}.
   *
   * @param expected never null
   * @param value never null
   * @return whether the value was set
   */
  boolean compareAndSet(T expected, T value);

  /**
   * Changes the value.
   *
   * @param change has no side effects, because it may run again
   * @return the new value
   */
  T update(UnaryOperator<T> change);

  /**
   * Starts an actor that gets the present value, and then each change, one at a time. A slow
   * follower gets only the latest value, and may get the same value twice. If the follower fails at
   * a value, the builder's failure policy applies, and the value is not sent again.
   *
   * @param follower may change the value
   * @return the subscription
   */
  Subscription subscribe(Handler<T> follower);
}
