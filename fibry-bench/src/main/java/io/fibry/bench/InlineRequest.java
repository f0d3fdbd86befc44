package io.fibry.bench;

import io.fibry.ActorBuilder;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import java.util.concurrent.locks.ReentrantLock;
import org.openjdk.jmh.annotations.Benchmark;

/**
 * Measures the time of a request that the asker's own thread may handle. The references are locks,
 * which guarantee less: they have no failure policy, no termination, and no detection of cycles of
 * waits.
 */
public class InlineRequest extends JmhBenchmark {
  private final ActorWithReturn<Integer, Integer> inline = counter(ActorSystem.anonymous().inlineRequests());
  private final ActorWithReturn<Integer, Integer> ordinary = counter(ActorSystem.anonymous());
  private final ReentrantLock lock = new ReentrantLock();
  private int count; // guarded by the lock in one benchmark, by the monitor in the other

  private static ActorWithReturn<Integer, Integer> counter(ActorBuilder<Object> builder) {
    return builder.initialState(() -> new int[1]).newActorWithReturn(
        (int[] count, Integer increment) -> count[0] += increment);
  }

  @Benchmark
  public int inline() {
    return inline.ask(1);
  }

  /** Asks an actor without {@code inlineRequests}, whose handler runs on another virtual thread. */
  @Benchmark
  public int ordinary() {
    return ordinary.ask(1);
  }

  @Benchmark
  public int reentrantLock() {
    lock.lock();
    try {
      return count += 1;
    } finally {
      lock.unlock();
    }
  }

  @Benchmark
  public int monitor() {
    synchronized (this) {
      return count += 1;
    }
  }
}
