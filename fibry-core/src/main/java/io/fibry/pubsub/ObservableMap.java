package io.fibry.pubsub;

import io.fibry.ActorBuilder;
import io.fibry.Handler;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * A map to read, change and follow. Followers see the changes of each key in order, and the last
 * one always. An equal value is no change. It lives as a {@link ObservableValue}. Thread-safe.
 * {@snippet class="io.fibry.PubsubSnippetsTest" region="observableMap"}
 *
 * @param <K> keys
 * @param <V> values, best immutable
 */
public interface ObservableMap<K, V> {

  /**
   * An empty map.
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
   * {@return a key's value, if any}
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
   * @return the value before
   */
  Optional<V> remove(K key);

  /**
   * Sets a key's value if it equals the expected one.
   *
   * @param key never null
   * @param expected never null
   * @param value never null
   * @return true if so
   */
  boolean compareAndSet(K key, V expected, V value);

  /**
   * Changes a key's value; empty is none.
   *
   * @param key never null
   * @param change free of side effects; may run again
   * @return the new value
   */
  Optional<V> update(K key, UnaryOperator<Optional<V>> change);

  /**
   * Tells a new actor each key's value, then each change, one at a time. A slow follower is told
   * the latest of each key, oldest news first; and perhaps again what it was told before.
   *
   * @param follower may change the map
   * @return the subscription
   */
  Subscription subscribe(Handler<Change<K, V>> follower);

  /**
   * Tells a new actor one key's value or that it has none, then each change.
   *
   * @param key never null
   * @param follower may change the map
   * @return the subscription
   */
  Subscription subscribe(K key, Handler<Optional<V>> follower);

  /**
   * A key's new value. Immutable.
   *
   * @param <K> keys
   * @param <V> values
   * @param key the key
   * @param value empty if it was removed
   */
  record Change<K, V>(K key, Optional<V> value) {}
}
