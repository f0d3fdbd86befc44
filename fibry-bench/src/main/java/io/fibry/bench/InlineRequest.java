package io.fibry.bench;

import io.fibry.ActorBuilder;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import java.util.concurrent.locks.ReentrantLock;
import org.openjdk.jmh.annotations.Benchmark;

/**
 * The cost of a request that the asker's own thread may handle. The references are locks, which
 * promise less: no failure policy, no end, no detection of rings.
 */
public class InlineRequest extends JmhQuestion {
  private final ActorWithReturn<Integer, Integer> inline = counter(ActorSystem.anonymous().inlineRequests());
  private final ActorWithReturn<Integer, Integer> ordinary = counter(ActorSystem.anonymous());
  private final ReentrantLock lock = new ReentrantLock();
  private int count; // under the lock, or the monitor

  private static ActorWithReturn<Integer, Integer> counter(ActorBuilder<Object> builder) {
    return builder.initialState(() -> new int[1]).newActorWithReturn((int[] count, Integer by) -> count[0] += by);
  }

  @Benchmark
  public int inline() {
    return inline.ask(1);
  }

  /** Uses an actor of the same kind on a thread of its own. */
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
