package io.fibry.pubsub;

import io.fibry.ActorBuilder;
import io.fibry.Handler;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * A map that many read, change and follow; followers see the changes of each key in order, the last
 * one always. A value equal to the present one is no change. Thread-safe.
 * {@snippet class="io.fibry.PubsubSnippetsTest" region="sharedMap"}
 *
 * <p>It lives as a {@link SharedValue} does.
 *
 * @param <K> the keys
 * @param <V> the values; let them be immutable
 */
public interface SharedMap<K, V> {

  /**
   * An empty map.
   *
   * @param <K> the keys
   * @param <V> the values
   * @param how makes the actors of the followers: scope, name, strategy, failure policy. Not their
   * mailbox: at most one change is under way to each
   * @return the map
   */
  static <K, V> SharedMap<K, V> of(ActorBuilder<?> how) {
    return new ConcurrentSharedMap<>(Objects.requireNonNull(how, "how"));
  }

  /**
   * What the key has now.
   *
   * @param key never null
   * @return empty if it has nothing
   */
  Optional<V> value(K key);

  /** {@return all that it holds at one moment; unmodifiable} */
  Map<K, V> snapshot();

  /**
   * Gives the key a value.
   *
   * @param key never null
   * @param value never null
   */
  void put(K key, V value);

  /**
   * Takes the key's value away.
   *
   * @param key never null
   * @return what it had
   */
  Optional<V> remove(K key);

  /**
   * Gives the key a value if it has the one expected.
   *
   * @param key never null
   * @param expected compared by {@code equals}; never null
   * @param value never null
   * @return true if it had
   */
  boolean compareAndSet(K key, V expected, V value);

  /**
   * Changes what the key has by a function of that; empty is nothing, before and after.
   *
   * @param key never null
   * @param change free of side effects: run again where another change of the key came first
   * @return what it has then
   */
  Optional<V> update(K key, UnaryOperator<Optional<V>> change);

  /**
   * Tells a new actor what each key has at present, then each change, one at a time. One that is
   * slow is told the latest of each key only, the key first whose news is oldest; and perhaps again
   * what it was told before, where that changed and changed back meanwhile.
   *
   * @param follower what it does with each; it may change the map itself
   * @return its place
   */
  Subscription subscribe(Handler<Change<K, V>> follower);

  /**
   * Tells a new actor what this key has at present, also if that is nothing, then each change, as a
   * {@link SharedValue} does.
   *
   * @param key never null
   * @param follower what it does with each; it may change the map itself
   * @return its place
   */
  Subscription subscribe(K key, Handler<Optional<V>> follower);

  /**
   * What a key has now. Immutable.
   *
   * @param <K> the keys
   * @param <V> the values
   * @param key the key
   * @param value empty if it has nothing any more
   */
  record Change<K, V>(K key, Optional<V> value) {}
}
