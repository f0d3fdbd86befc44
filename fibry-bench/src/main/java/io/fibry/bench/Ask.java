package io.fibry.bench;

import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** What does a request cost, and of that the bare switch to another virtual thread and back? The asker is a virtual thread. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 3, jvmArgsAppend = {"-Djmh.executor=VIRTUAL", "-Djdk.virtualThreadScheduler.parallelism=1"})
public class Ask {
  private final ActorWithReturn<Integer, Integer> squares = ActorSystem.anonymous().newActorWithReturn((Integer n) -> n * n);
  private final ActorWithReturn<Integer, Integer> inline = ActorSystem.anonymous().inlineRequests().newActorWithReturn((Integer n) -> n * n);
  private final ReentrantLock lock = new ReentrantLock();

  /**
   * With its limit.
   *
   * @return the answer
   */
  @Benchmark
  public int ask() {
    return squares.ask(7);
  }

  /**
   * Without a limit.
   *
   * @return the answer
   */
  @Benchmark
  public int sendMessageReturn() {
    return squares.sendMessageReturn(7).join();
  }

  /**
   * On the asker's thread.
   *
   * @return the answer
   */
  @Benchmark
  public int inlineAsk() {
    return inline.ask(7);
  }

  /**
   * The reference of the first two: what any library that answers on another virtual thread pays.
   *
   * @return the answer
   */
  @Benchmark
  public int threadAndFuture() {
    var answer = new CompletableFuture<Integer>();
    Thread.startVirtualThread(() -> answer.complete(7 * 7));
    return answer.join();
  }

  /**
   * The reference of the third.
   *
   * @return the answer
   */
  @Benchmark
  public int lock() {
    lock.lock();
    try {
      return 7 * 7;
    } finally {
      lock.unlock();
    }
  }
}
