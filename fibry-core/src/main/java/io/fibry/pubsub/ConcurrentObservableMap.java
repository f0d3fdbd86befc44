package io.fibry.pubsub;

import io.fibry.ActorBuilder;
import io.fibry.Handler;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;

/**
 * A thread changes a value, and updates {@code knownValues} of each follower, in one synchronized
 * block. A follower also takes its next change under the monitor. So no follower gets an old value
 * after a newer value, or a change twice. The only user code that runs under the monitor is
 * {@code equals} and {@code hashCode} of keys.
 */
final class ConcurrentObservableMap<K, V> implements ObservableMap<K, V> {
  private static final Object ALL_KEYS = new Object(); // the key of the followers that follow all keys
  // the value in `knownValues` until the follower has received its first value
  private static final Object NOTHING_KNOWN = new Object();

  private final ActorBuilder<?> builder;
  private final ConcurrentHashMap<K, V> values = new ConcurrentHashMap<>(); // read by any thread
  // followers by the key that they follow, or by ALL_KEYS; guarded by the monitor, like the next
  // field
  private final Map<Object, List<KeySubscription<?>>> followers = new HashMap<>();
  private int lastNumber;

  ConcurrentObservableMap(ActorBuilder<?> builder) {
    this.builder = builder;
  }

  @Override
  public Optional<V> value(K key) {
    return Optional.ofNullable(values.get(Objects.requireNonNull(key, "key")));
  }

  @Override
  public synchronized Map<K, V> snapshot() {
    return Map.copyOf(values);
  }

  @Override
  public void put(K key, V value) {
    Objects.requireNonNull(value, "value");
    var newValue = Optional.of(value);
    update(key, old -> newValue);
  }

  @Override
  public Optional<V> remove(K key) {
    Objects.requireNonNull(key, "key");
    while (true) {
      V current = values.get(key);
      if (change(key, current, null)) return Optional.ofNullable(current);
    }
  }

  @Override
  public boolean compareAndSet(K key, V expected, V value) {
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(expected, "expected");
    Objects.requireNonNull(value, "value");
    while (true) {
      V current = values.get(key);
      if (!expected.equals(current)) return false;
      if (change(key, current, value)) return true;
    }
  }

  @Override
  public Optional<V> update(K key, UnaryOperator<Optional<V>> change) {
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(change, "change");
    while (true) {
      V current = values.get(key);
      var next = Objects.requireNonNull(change.apply(Optional.ofNullable(current)),
          "the changed value is null; for nothing, answer Optional.empty()");
      if (change(key, current, next.orElse(null))) return next;
    }
  }

  /**
   * Replaces the object {@code current}, compared by identity; null means that the key has no
   * value. Returns false only if another thread has replaced {@code current}. If both values are
   * equal, returns true without a change.
   */
  private boolean change(K key, V current, V next) {
    if (Objects.equals(current, next)) return true;
    List<KeySubscription<?>> toNotify;
    synchronized (this) {
      if (values.get(key) != current) return false;
      if (next == null) values.remove(key);
      else values.put(key, next);
      toNotify = new ArrayList<>(followers.getOrDefault(ALL_KEYS, List.of()));
      toNotify.addAll(followers.getOrDefault(key, List.of()));
      for (var follower : toNotify) follower.addChange(key, current, next);
    }
    ChangeSubscription.notifyAll(toNotify); // not under the monitor: on CALLER this runs user code
    return true;
  }

  @Override
  public Subscription subscribe(Handler<Change<K, V>> follower) {
    Objects.requireNonNull(follower, "follower");
    return enter(new KeySubscription<>(ALL_KEYS, nextNumber(), follower, Change::new), values.keySet(), null);
  }

  @Override
  public Subscription subscribe(K key, Handler<Optional<V>> follower) {
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(follower, "follower");
    return enter(new KeySubscription<>(key, nextNumber(), follower, (k, value) -> value), List.of(key), NOTHING_KNOWN);
  }

  private synchronized int nextNumber() {
    return ++lastNumber;
  }

  private Subscription enter(KeySubscription<?> follower, Iterable<K> keys, Object knownValue) {
    synchronized (this) {
      followers.computeIfAbsent(follower.key, k -> new ArrayList<>()).add(follower);
      for (var key : keys) follower.knownValues.put(key, knownValue);
    }
    follower.begin();
    return follower;
  }

  private final class KeySubscription<E> extends ChangeSubscription<E> {
    private final Object key;
    private final BiFunction<K, Optional<V>, E> toMessage;
    // the keys with a change to send, each with the value that the follower knows; null if the key
    // has no value, as far as the follower knows. Guarded by the monitor
    private final LinkedHashMap<K, Object> knownValues = new LinkedHashMap<>();

    KeySubscription(Object key, int number, Handler<E> handler, BiFunction<K, Optional<V>, E> toMessage) {
      super(builder, number, handler);
      this.key = key;
      this.toMessage = toMessage;
    }

    void addChange(K key, V previous, V current) {
      if (!knownValues.containsKey(key)) knownValues.put(key, previous);
      // the follower knows this value already, so no change is sent
      else if (knownValues.get(key) == current) knownValues.remove(key);
    }

    @Override
    E nextChange() {
      synchronized (ConcurrentObservableMap.this) {
        var oldest = knownValues.firstEntry();
        if (oldest == null) return null;
        E change = toMessage.apply(oldest.getKey(), Optional.ofNullable(values.get(oldest.getKey())));
        knownValues.pollFirstEntry(); // last, so that no change is lost if a method of a key throws
        return change;
      }
    }

    @Override
    void leave() {
      synchronized (ConcurrentObservableMap.this) {
        var subscriptions = followers.get(key);
        if (subscriptions != null && subscriptions.remove(this) && subscriptions.isEmpty()) followers.remove(key);
      }
    }
  }
}
