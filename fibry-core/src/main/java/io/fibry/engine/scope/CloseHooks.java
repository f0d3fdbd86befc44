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
 * The hooks that run when a scope begins to close. Each hook runs at most once, on a thread of its
 * own. Their threads are started in the order of registration.
 */
final class CloseHooks {
  private final Set<RegisteredHook> openHooks = new ConcurrentSkipListSet<>();
  private final AtomicLong lastNumber = new AtomicLong();

  /**
   * Registers a hook. The caller must then check whether the scope has begun to close, and if so
   * call {@link #runAll}.
   */
  CloseHook add(Runnable code, String scope) {
    var hook = new RegisteredHook(lastNumber.incrementAndGet(), code, scope);
    openHooks.add(hook);
    return hook;
  }

  void runAll() {
    for (var hook : openHooks) hook.start();
  }

  /**
   * Returns a future that completes when all hooks have ended. Called after {@link #runAll}, so
   * each hook has begun or was closed.
   */
  CompletableFuture<?> whenAllEnded() {
    return CompletableFuture.allOf(openHooks.stream().map(hook -> hook.ended).toArray(CompletableFuture<?>[]::new));
  }

  private final class RegisteredHook implements CloseHook, Comparable<RegisteredHook> {
    private final long number;
    private final Runnable code;
    private final String scope;
    // false -> true by the thread that starts the hook, or closes it before it starts
    private final AtomicBoolean isClaimed = new AtomicBoolean();
    private final CompletableFuture<Void> ended = new CompletableFuture<>();

    RegisteredHook(long number, Runnable code, String scope) {
      this.number = number;
      this.code = code;
      this.scope = scope;
    }

    void start() {
      if (!isClaimed.compareAndSet(false, true)) return;
      try {
        GuaranteedStart.start(this::run);
      } catch (Throwable noMemory) {
        finish();
        throw noMemory;
      }
    }

    private void run() {
      try {
        code.run();
      } catch (Throwable failure) {
        EngineLog.log().error("a close hook of scope '{}' failed", scope, failure);
      } finally {
        finish();
      }
    }

    private void finish() {
      openHooks.remove(this);
      ended.complete(null);
    }

    @Override
    public int compareTo(RegisteredHook other) {
      return Long.compare(number, other.number);
    }

    @Override
    public void close() {
      if (isClaimed.compareAndSet(false, true)) finish();
    }
  }
}
