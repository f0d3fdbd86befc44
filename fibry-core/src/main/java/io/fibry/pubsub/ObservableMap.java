package io.fibry.pubsub;

import io.fibry.ActorBuilder;
import io.fibry.Handler;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * A map that many threads can read, change and subscribe to. Its subscribers, the followers, see
 * the changes of each key in order, and always the last change. A put of an equal value does not
 * count as a change. The map becomes garbage under the same conditions as an
 * {@link ObservableValue}. Thread-safe.
 * {@snippet class="io.fibry.PubsubSnippetsTest" region="observableMap"}
 *
 * @param <K> keys
 * @param <V> values, best immutable
 */
public interface ObservableMap<K, V> {

  /**
   * Makes an empty map.
   *
   * @param <K> keys
   * @param <V> values
   * @param builder makes the followers' actors; its mailbox is ignored
   * @return the map
   */
  static <K, V> ObservableMap<K, V> of(ActorBuilder<?> builder) {
    return new ConcurrentObservableMap<>(Objects.requireNonNull(builder, "builder"));
  }

  /**
   * {@return the value of a key, or empty if the key has no value}
   *
   * @param key never null
   */
  Optional<V> value(K key);

  /** {@return all entries at one moment; unmodifiable} */
  Map<K, V> snapshot();

  /**
   * Sets a key's value.
   *
   * @param key never null
   * @param value never null
   */
  void put(K key, V value);

  /**
   * Removes a key's value.
   *
   * @param key never null
   * @return the removed value, or empty if the key had no value
   */
  Optional<V> remove(K key);

  /**
   * Sets a key's value if its present value equals {@code expected}.
   *
   * @param key never null
   * @param expected never null
   * @param value never null
   * @return whether the value was set
   */
  boolean compareAndSet(K key, V expected, V value);

  /**
   * Changes a key's value; an empty {@code Optional} means no value.
   *
   * @param key never null
   * @param change has no side effects, because it may run again
   * @return the new value
   */
  Optional<V> update(K key, UnaryOperator<Optional<V>> change);

  /**
   * Starts an actor that gets the present value of each key, and then each change, one at a time. A
   * slow follower gets only the latest value of each key, in the order in which the keys changed. A
   * follower may get the same value twice.
   *
   * @param follower may change the map
   * @return the subscription
   */
  Subscription subscribe(Handler<Change<K, V>> follower);

  /**
   * Starts an actor that gets the present value of one key, or empty if the key has no value, and
   * then each change.
   *
   * @param key never null
   * @param follower may change the map
   * @return the subscription
   */
  Subscription subscribe(K key, Handler<Optional<V>> follower);

  /**
   * The new value of a key. Immutable.
   *
   * @param <K> keys
   * @param <V> values
   * @param key the key
   * @param value the new value; empty if the value was removed
   */
  record Change<K, V>(K key, Optional<V> value) {}
}
