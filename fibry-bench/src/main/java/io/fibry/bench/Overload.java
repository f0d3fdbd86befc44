package io.fibry.bench;

import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.bench.OpenLoopLoad.Call;
import io.fibry.bench.OpenLoopLoad.ObservedService;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Counts the answers of services when clients ask for more than these can do. A request needs three
 * steps of 5 to 15 ms on one of four resources; its client gives up after 500 ms. All services get
 * the same load at once. The first load rises and falls, the second does so with clients that try
 * twice more, and in the third, steps take four times as long for a while.
 */
public final class Overload {
  private static final Duration LIMIT = Duration.ofNanos(OpenLoopLoad.PATIENCE);

  private final double seconds;
  private final List<AutoCloseable> running = new ArrayList<>();

  private Overload(double seconds) {
    this.seconds = seconds;
  }

  /** The argument is how many seconds each column takes, 2.5 by default. */
  public static void main(String[] args) throws Exception {
    var all = new Overload(args.length == 0 ? 2.5 : Double.parseDouble(args[0]));
    System.out.printf("JDK %s, %d processors; answers in time per second, at multiples of the capacity of %.0f/s%n",
        Runtime.version(), Runtime.getRuntime().availableProcessors(), OpenLoopLoad.CAPACITY);
    all.table("load rises and falls", 0, new double[] {0.5, 0.8, 1, 1.2, 3, 0.8, 0.8}, 4, -1);
    all.table("clients try three times", 2, new double[] {0.8, 3, 0.8, 0.8}, 1, -1);
    all.table("steps take four times as long in the second column", 0, new double[] {0.8, 0.8, 0.8, 0.8}, 1, 1);
    System.exit(0);
  }

  private List<ObservedService> services() {
    return List.of(
        new ObservedService("200 threads, unbounded queue", threads(Executors.newFixedThreadPool(200))),
        new ObservedService("virtual thread per request", threads(Executors.newVirtualThreadPerTaskExecutor())),
        new ObservedService("the same, 12 at most", atMost(12, threads(Executors.newVirtualThreadPerTaskExecutor()))),
        new ObservedService("mailbox 1000, REJECT", waiting(pool(Mailbox.bounded(1_000, Overflow.REJECT)))),
        new ObservedService("the same, ask with limit", asking(pool(Mailbox.bounded(1_000, Overflow.REJECT)))),
        new ObservedService("mailbox 16, REJECT", asking(pool(Mailbox.bounded(16, Overflow.REJECT)))),
        new ObservedService("mailbox 1000 within 200 ms",
            asking(pool(Mailbox.bounded(1_000, Overflow.REJECT).withMaxWait(Duration.ofMillis(200))))),
        new ObservedService("mailbox 1000 within 100 ms",
            asking(pool(Mailbox.bounded(1_000, Overflow.REJECT).withMaxWait(Duration.ofMillis(100))))),
        new ObservedService("mailbox 1000 within 50 ms",
            asking(pool(Mailbox.bounded(1_000, Overflow.REJECT).withMaxWait(Duration.ofMillis(50))))),
        new ObservedService("mailbox 1000 within 20 ms",
            asking(pool(Mailbox.bounded(1_000, Overflow.REJECT).withMaxWait(Duration.ofMillis(20))))));
  }

  /** A request needs a resource for each step, and continues after its client has given up. */
  private OpenLoopLoad.Service threads(ExecutorService executor) {
    running.add(executor::shutdownNow);
    var resources = new Semaphore(OpenLoopLoad.RESOURCES, true);
    return call -> {
      var answer = new CompletableFuture<Boolean>();
      executor.submit(() -> {
        for (int i = 0; i < OpenLoopLoad.STEPS; i++) {
          resources.acquire();
          try {
            call.step();
          } finally {
            resources.release();
          }
        }
        return answer.complete(true);
      });
      answer.get(OpenLoopLoad.PATIENCE, TimeUnit.NANOSECONDS);
    };
  }

  /** Refuses more requests at once. */
  private static OpenLoopLoad.Service atMost(int inFlight, OpenLoopLoad.Service service) {
    var permits = new Semaphore(inFlight);
    return call -> {
      if (!permits.tryAcquire()) throw new TimeoutException("refused");
      try {
        service.serve(call);
      } finally {
        permits.release();
      }
    };
  }

  /**
   * There are as many workers as resources, so a request that has begun has all resources that it
   * needs.
   */
  private ActorWithReturn<Call, Boolean> pool(Mailbox<Object> mailbox) {
    ActorWithReturn<Call, Boolean> pool =
        Pools.fixed(ActorSystem.anonymous().mailbox(mailbox), OpenLoopLoad.RESOURCES)
            .newActorWithReturn((Call call) -> {
              call.steps();
              return true;
            });
    running.add(pool::kill);
    return pool;
  }

  private static OpenLoopLoad.Service asking(ActorWithReturn<Call, Boolean> pool) {
    return call -> pool.ask(call, LIMIT);
  }

  /** Leaves the request queued when its client gives up. */
  private static OpenLoopLoad.Service waiting(ActorWithReturn<Call, Boolean> pool) {
    return call -> {
      try {
        pool.sendMessageReturn(call).get(OpenLoopLoad.PATIENCE, TimeUnit.NANOSECONDS);
      } catch (ExecutionException refused) {
        throw (Exception) refused.getCause();
      }
    };
  }

  private void table(String what, int retries, double[] loads, int peak, int slow) throws Exception {
    var services = services();
    var times = new long[loads.length + 1];
    times[0] = System.nanoTime();
    try (var load = new OpenLoopLoad(42, retries, services)) {
      for (int i = 0; i < loads.length; i++) {
        load.slowness = i == slow ? 4 : 1;
        load.load(loads[i] * OpenLoopLoad.CAPACITY, times[i] + (long) (seconds * 1e9));
        times[i + 1] = System.nanoTime();
      }
    }
    System.out.printf("%n%-30s%s   in the worst: p50, p99, refused p99 in ms; steps in vain%n", what,
        String.join("", Arrays.stream(loads).mapToObj("%6.1f"::formatted).toList()));
    for (var service : services) {
      System.out.printf("%-30s", service.name);
      for (int i = 0; i < loads.length; i++)
        System.out.printf("%6.0f", service.tally(times[i], times[i + 1]).goodput());
      var worst = service.tally(times[peak], times[peak + 1]);
      System.out.printf("%8.0f%6.0f%9.3f%8d of %d%n", worst.median(), worst.slowest(), worst.refusal(),
          service.inVain.sum(), service.steps.sum());
    }
    for (var closed : running) closed.close();
    running.clear();
  }
}
