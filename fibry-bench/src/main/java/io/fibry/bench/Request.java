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
 * The cost of a request, from asking to having the answer. With one carrier only the switch counts.
 * (The threads of Pekko and Kotlin are no carriers: they keep as many.)
 *
 * <p>{@code future} is ours without a limit. {@code floor} is the least that a switch costs: start
 * a virtual thread and wait for its answer.
 */
public class Request extends JmhQuestion {
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
