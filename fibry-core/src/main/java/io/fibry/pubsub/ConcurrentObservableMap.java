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
 * Changes are made and noted for followers under the monitor, and followers take their news under
 * it. So no follower gets an old value after a new one, or a change twice. The only user code that
 * runs there are {@code equals} and {@code hashCode} of keys.
 */
final class ConcurrentObservableMap<K, V> implements ObservableMap<K, V> {
  private static final Object ALL = new Object(); // stands for all keys
  private static final Object NOTHING_YET = new Object();

  private final ActorBuilder<?> builder;
  private final ConcurrentHashMap<K, V> values = new ConcurrentHashMap<>(); // read by any thread
  // by key; guarded by the monitor, as the next one
  private final Map<Object, List<KeySubscription<?>>> followers = new HashMap<>();
  private int made;

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
    var there = Optional.of(value);
    update(key, any -> there);
  }

  @Override
  public Optional<V> remove(K key) {
    Objects.requireNonNull(key, "key");
    while (true) {
      V now = values.get(key);
      if (change(key, now, null)) return Optional.ofNullable(now);
    }
  }

  @Override
  public boolean compareAndSet(K key, V expected, V value) {
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(expected, "expected");
    Objects.requireNonNull(value, "value");
    while (true) {
      V now = values.get(key);
      if (!expected.equals(now)) return false;
      if (change(key, now, value)) return true;
    }
  }

  @Override
  public Optional<V> update(K key, UnaryOperator<Optional<V>> change) {
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(change, "change");
    while (true) {
      V now = values.get(key);
      var next = Objects.requireNonNull(change.apply(Optional.ofNullable(now)),
          "the changed value is null; for nothing, answer Optional.empty()");
      if (change(key, now, next.orElse(null))) return next;
    }
  }

  /** Compares {@code now} by identity, null is nothing; true also if both are equal. */
  private boolean change(K key, V now, V next) {
    if (Objects.equals(now, next)) return true;
    List<KeySubscription<?>> told;
    synchronized (this) {
      if (values.get(key) != now) return false;
      if (next == null) values.remove(key);
      else values.put(key, next);
      told = new ArrayList<>(followers.getOrDefault(ALL, List.of()));
      told.addAll(followers.getOrDefault(key, List.of()));
      for (var follower : told) follower.changed(key, now, next);
    }
    for (var follower : told) follower.notifyChange(); // on CALLER this runs user code
    return true;
  }

  @Override
  public Subscription subscribe(Handler<Change<K, V>> follower) {
    Objects.requireNonNull(follower, "follower");
    return enter(new KeySubscription<>(ALL, number(), follower, Change::new), values.keySet(), null);
  }

  @Override
  public Subscription subscribe(K key, Handler<Optional<V>> follower) {
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(follower, "follower");
    return enter(new KeySubscription<>(key, number(), follower, (same, value) -> value), List.of(key), NOTHING_YET);
  }

  private synchronized int number() {
    return ++made;
  }

  private Subscription enter(KeySubscription<?> follower, Iterable<K> keys, Object knows) {
    synchronized (this) {
      followers.computeIfAbsent(follower.key, first -> new ArrayList<>()).add(follower);
      for (var key : keys) follower.known.put(key, knows);
    }
    follower.begin();
    return follower;
  }

  private final class KeySubscription<E> extends ChangeSubscription<E> {
    private final Object key;
    private final BiFunction<K, Optional<V>, E> form;
    // keys with news, and what it was told last; guarded by the map's monitor
    private final LinkedHashMap<K, Object> known = new LinkedHashMap<>();

    KeySubscription(Object key, int number, Handler<E> handler, BiFunction<K, Optional<V>, E> form) {
      super(builder, number, handler);
      this.key = key;
      this.form = form;
    }

    void changed(K key, V before, V now) {
      if (!known.containsKey(key)) known.put(key, before);
      // no news, so `known` stays small
      else if (known.get(key) == now) known.remove(key);
    }

    @Override
    E nextChange() {
      synchronized (ConcurrentObservableMap.this) {
        var oldest = known.pollFirstEntry();
        return oldest == null ? null : form.apply(oldest.getKey(), Optional.ofNullable(values.get(oldest.getKey())));
      }
    }

    @Override
    void leave() {
      synchronized (ConcurrentObservableMap.this) {
        var left = followers.get(key);
        if (left != null && left.remove(this) && left.isEmpty()) followers.remove(key);
      }
    }
  }
}
