package io.fibry.bench.scenario;

import io.fibry.Handler;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * A virtual thread for each message, written by hand, with the promises of {@code
 * Pools.perMessage}. So it shows what these promises cost at least. It accepts a limited number of
 * messages at the same time, and none after its close. It counts handled and failed messages,
 * reports failures, and knows for how long each message has been handled.
 */
final class CountedThreads<T> implements AutoCloseable {
  private final String name;
  private final Handler<T> handler;
  private final int maxRunning;
  private final Set<Call> running = ConcurrentHashMap.newKeySet();
  private final AtomicInteger runningCount = new AtomicInteger();
  private final AtomicInteger lastNumber = new AtomicInteger();
  private final LongAdder handled = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final CompletableFuture<Void> exit = new CompletableFuture<>();
  private volatile boolean isClosed;

  CountedThreads(String name, int maxRunning, Handler<T> handler) {
    this.name = name;
    this.maxRunning = maxRunning;
    this.handler = handler;
  }

  private final class Call implements Runnable {
    private final T message;
    private final int number = lastNumber.incrementAndGet();
    private volatile long startedAt; // read by a watchdog
    private volatile Thread thread; // interrupted by a kill

    Call(T message) {
      this.message = message;
    }

    @Override
    public void run() {
      thread = Thread.currentThread();
      startedAt = System.nanoTime();
      try {
        handler.handle(message);
        handled.increment();
      } catch (Throwable failure) {
        failed.increment();
        System.getLogger(name).log(System.Logger.Level.ERROR, this + " failed", failure);
      } finally {
        leave(this);
      }
    }

    @Override
    public int hashCode() {
      return number;
    }

    @Override
    public boolean equals(Object other) {
      return this == other;
    }

    @Override
    public String toString() {
      return name + "/" + number;
    }
  }

  /** Returns false if the message was refused. */
  boolean send(T message) {
    if (isClosed) return false;
    if (runningCount.incrementAndGet() > maxRunning) {
      runningCount.decrementAndGet();
      return false;
    }
    var call = new Call(message);
    running.add(call);
    boolean isRefused = isClosed;
    if (isRefused) leave(call);
    else Thread.startVirtualThread(call);
    return !isRefused;
  }

  private void leave(Call call) {
    running.remove(call);
    if (runningCount.decrementAndGet() == 0 && isClosed) exit.complete(null);
  }

  /** Returns how long the slowest running message has been handled, in nanoseconds. */
  long longestNanos() {
    long now = System.nanoTime();
    return running.stream().filter(call -> call.thread != null).mapToLong(call -> now - call.startedAt).max().orElse(0);
  }

  @Override
  public void close() {
    isClosed = true;
    if (runningCount.get() == 0) exit.complete(null);
    exit.join();
    System.out.printf("%s: %,d handled, %,d failed, the slowest for %d ns%n", name, handled.sum(), failed.sum(),
        longestNanos());
  }
}
