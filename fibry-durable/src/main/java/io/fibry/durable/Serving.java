package io.fibry.durable;

import io.fibry.Actor;
import io.fibry.store.Store;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** The keys of a store that have an actor here: two of one key would end each other's lives. */
final class Serving {
  private static final Map<Store, Set<Store.Id>> SERVED = Collections.synchronizedMap(new WeakHashMap<>());

  private Serving() {}

  static <M> Actor<M> only(Store store, Store.Id id, Supplier<Actor<M>> maker) {
    var served = SERVED.computeIfAbsent(store, none -> ConcurrentHashMap.newKeySet());
    if (!served.add(id)) throw new IllegalStateException(
        id + " has an actor at " + store + "; send to that one, or let entities make it");
    boolean made = false;
    try {
      var actor = maker.get().closeOnExit(() -> served.remove(id));
      made = true;
      return actor;
    } finally {
      if (!made) served.remove(id);
    }
  }
}
