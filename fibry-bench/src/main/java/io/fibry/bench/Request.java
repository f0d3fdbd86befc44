package io.fibry.bench;

import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.bench.peer.Answerer;
import io.fibry.bench.peer.Peer;
import io.fibry.bench.peer.Peers;
import java.util.concurrent.CompletableFuture;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Measures the time of a request, from the ask until the asker has the answer. With one carrier,
 * the asker and the actor cannot run at the same time, so only the switches between threads count.
 * The threads of Pekko and Kotlin are not carriers, so their number does not change.
 *
 * <p>{@code future} is a Fibry actor that is asked without a limit. {@code floor} is the minimum
 * cost of a switch: it starts a virtual thread and waits for its answer.
 */
public class Request extends JmhBenchmark {
  private static final int REQUESTS = 1_000;

  @Param({"fiber", "future", "thread", "resident", "forkjoin", "caller", "floor", "pekko", "pekko-tuned", "pojo-actor",
    "jox", "kotlin", "jctools", "virtual-queue", "platform-queue", "executor", "executor-virtual"})
  public String who;

  private Peer.Requests peer;
  private Answerer<Integer, Integer> squares;

  @Setup
  public void open() {
    switch (who) {
      case "future" -> {
        ActorWithReturn<Integer, Integer> actor = ActorSystem.anonymous().newActorWithReturn((Integer n) -> n * n);
        squares = n -> actor.sendMessageReturn(n).join();
      }
      case "floor" -> squares = n -> {
        var answer = new CompletableFuture<Integer>();
        Thread.startVirtualThread(() -> answer.complete(n * n));
        return answer.join();
      };
      default -> {
        peer = Peers.of(who, Peer.Requests.class);
        squares = peer.answering(n -> n * n);
      }
    }
  }

  @TearDown
  public void close() {
    if (peer != null) peer.close();
  }

  @Benchmark
  @OperationsPerInvocation(REQUESTS)
  public Integer fromVirtual() {
    return squares.askAll(7, REQUESTS);
  }

  @Benchmark
  @Fork(value = 3, jvmArgsAppend = PLATFORM)
  @OperationsPerInvocation(REQUESTS)
  public Integer fromPlatform() {
    return squares.askAll(7, REQUESTS);
  }

  @Benchmark
  @Fork(value = 3, jvmArgsAppend = {VIRTUAL, ONE_CARRIER})
  @OperationsPerInvocation(REQUESTS)
  public Integer onOneCarrier() {
    return squares.askAll(7, REQUESTS);
  }
}
