package io.fibry.cluster;

import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Values by name, until they end. The making of a value may wait for the network. A lock lets one
 * thread at a time decide whether to make the value of a name. {@code ConcurrentHashMap.compute}
 * would decide under a monitor. Up to Java 23, a virtual thread that waits under a monitor holds
 * its carrier, and the answer that it waits for may need this carrier. Thread-safe.
 */
final class NameTable<V> {
  private final Function<V, CompletableFuture<?>> exitOf;
  private final Map<String, V> values = new ConcurrentHashMap<>(); // written under the name's lock, except for removals
  private final ReentrantLock[] locks = Stream.generate(ReentrantLock::new).limit(64).toArray(ReentrantLock[]::new);

  NameTable(Function<V, CompletableFuture<?>> exitOf) {
    this.exitOf = exitOf;
  }

  /**
   * Decides which value a name has.
   *
   * @param decision gets the value that the name has, unless this value has ended, and returns this
   * value or a new one. It may wait; if it throws, the table does not change
   */
  V decide(String name, Function<Optional<V>, V> decision) {
    var lock = locks[Math.floorMod(name.hashCode(), locks.length)];
    lock.lock();
    try {
      var previous = values.get(name);
      var value = decision.apply(Optional.ofNullable(previous).filter(present -> !exitOf.apply(present).isDone()));
      if (value == previous) return value;
      values.put(name, value);
      exitOf.apply(value).thenRun(() -> values.remove(name, value)); // otherwise ended values would accumulate
      return value;
    } finally {
      lock.unlock();
    }
  }

  /** Returns the value of a name, which may have ended. Never waits. */
  Optional<V> find(String name) {
    return Optional.ofNullable(values.get(name));
  }

  Collection<V> values() {
    return values.values();
  }
}
