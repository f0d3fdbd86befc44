package io.fibry.engine.scope;

import io.fibry.ActorScope.CloseHook;
import io.fibry.engine.jvm.EngineLog;
import io.fibry.engine.jvm.GuaranteedStart;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Code that runs when a scope begins to close: each piece at most once, on a thread of its own.
 * They begin in the order in which they were registered.
 */
final class CloseHooks {
  private final Set<RegisteredHook> open = new ConcurrentSkipListSet<>();
  private final AtomicLong numbers = new AtomicLong();

  /** The caller looks afterwards whether the scope has begun to close. */
  CloseHook add(Runnable code, String scope) {
    var registered = new RegisteredHook(numbers.incrementAndGet(), code, scope);
    open.add(registered);
    return registered;
  }

  void runAll() {
    for (var one : open) one.start();
  }

  /** Those that are being said. */
  CompletableFuture<?> end() {
    return CompletableFuture.allOf(open.stream().map(one -> one.end).toArray(CompletableFuture<?>[]::new));
  }

  private final class RegisteredHook implements CloseHook, Comparable<RegisteredHook> {
    private final long number;
    private final Runnable code;
    private final String scope;
    private final AtomicBoolean over = new AtomicBoolean(); // false -> true: begun, or forgotten
    private final CompletableFuture<Void> end = new CompletableFuture<>();

    RegisteredHook(long number, Runnable code, String scope) {
      this.number = number;
      this.code = code;
      this.scope = scope;
    }

    void start() {
      if (!over.compareAndSet(false, true)) return;
      try {
        GuaranteedStart.start(this::run);
      } catch (Throwable noMemory) {
        leave();
        throw noMemory;
      }
    }

    private void run() {
      try {
        code.run();
      } catch (Throwable failure) {
        EngineLog.LOG.error("a farewell of scope '{}' failed", scope, failure);
      } finally {
        leave();
      }
    }

    private void leave() {
      open.remove(this);
      end.complete(null);
    }

    @Override
    public int compareTo(RegisteredHook other) {
      return Long.compare(number, other.number);
    }

    @Override
    public void close() {
      if (over.compareAndSet(false, true)) leave();
    }
  }
}
