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
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Counts the answers of services whose clients send more requests than the services can handle. A
 * request needs three steps of 5 to 15 ms, each on one of four resources. Its client gives up after
 * 500 ms. All services get the same load at the same time. The first load rises and falls. The
 * second rises and falls, too, and its clients try up to three times. During the third, steps take
 * four times as long for a while.
 */
public final class Overload {
  private static final Duration CLIENT_LIMIT = Duration.ofNanos(OpenLoopLoad.PATIENCE);

  private final double seconds;
  private final List<AutoCloseable> closeables = new ArrayList<>();

  private Overload(double seconds) {
    this.seconds = seconds;
  }

  /** The argument is the duration of each column of a table, in seconds; 2.5 by default. */
  public static void main(String[] args) throws Exception {
    var overload = new Overload(args.length == 0 ? 2.5 : Double.parseDouble(args[0]));
    System.out.printf("JDK %s, %d processors; answers in time per second, at multiples of the capacity of %.0f/s%n",
        Runtime.version(), Runtime.getRuntime().availableProcessors(), OpenLoopLoad.CAPACITY);
    overload.printTable("load rises and falls", 0, new double[] {0.5, 0.8, 1, 1.2, 3, 0.8, 0.8}, 4, -1);
    overload.printTable("clients try three times", 2, new double[] {0.8, 3, 0.8, 0.8}, 1, -1);
    overload.printTable("steps take four times as long in the second column", 0, new double[] {0.8, 0.8, 0.8, 0.8}, 1,
        1);
    System.exit(0);
  }

  private List<ObservedService> services() {
    return List.of(
        new ObservedService("200 threads, unbounded queue", threads(Executors.newFixedThreadPool(200))),
        new ObservedService("virtual thread per request", threads(Executors.newVirtualThreadPerTaskExecutor())),
        new ObservedService("the same, 12 at most", atMost(12, threads(Executors.newVirtualThreadPerTaskExecutor()))),
        new ObservedService("mailbox 1000, REJECT", waitWithoutAsk(pool(Mailbox.bounded(1_000, Overflow.REJECT)))),
        new ObservedService("the same, ask with limit", askWithLimit(pool(Mailbox.bounded(1_000, Overflow.REJECT)))),
        new ObservedService("mailbox 16, REJECT", askWithLimit(pool(Mailbox.bounded(16, Overflow.REJECT)))),
        new ObservedService("mailbox 1000 within 200 ms",
            askWithLimit(pool(Mailbox.bounded(1_000, Overflow.REJECT).withMaxWait(Duration.ofMillis(200))))),
        new ObservedService("mailbox 1000 within 100 ms",
            askWithLimit(pool(Mailbox.bounded(1_000, Overflow.REJECT).withMaxWait(Duration.ofMillis(100))))),
        new ObservedService("mailbox 1000 within 50 ms",
            askWithLimit(pool(Mailbox.bounded(1_000, Overflow.REJECT).withMaxWait(Duration.ofMillis(50))))),
        new ObservedService("mailbox 1000 within 20 ms",
            askWithLimit(pool(Mailbox.bounded(1_000, Overflow.REJECT).withMaxWait(Duration.ofMillis(20))))));
  }

  /**
   * Returns a service that runs each request on the executor. A request takes a resource for each
   * step, and continues after its client has given up.
   */
  private OpenLoopLoad.Service threads(ExecutorService executor) {
    closeables.add(executor::shutdownNow);
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

  /** Returns a service that refuses a request while {@code maxInFlight} others are pending. */
  private static OpenLoopLoad.Service atMost(int maxInFlight, OpenLoopLoad.Service service) {
    var permits = new Semaphore(maxInFlight);
    return call -> {
      if (!permits.tryAcquire()) throw new RejectedExecutionException("refused");
      try {
        service.serve(call);
      } finally {
        permits.release();
      }
    };
  }

  /**
   * Returns a pool with as many workers as resources, so that a request that a worker has begun
   * never waits for a resource.
   */
  private ActorWithReturn<Call, Boolean> pool(Mailbox<Object> mailbox) {
    ActorWithReturn<Call, Boolean> pool =
        Pools.fixed(ActorSystem.anonymous().mailbox(mailbox), OpenLoopLoad.RESOURCES)
            .newActorWithReturn((Call call) -> {
              call.steps();
              return true;
            });
    closeables.add(pool::kill);
    return pool;
  }

  private static OpenLoopLoad.Service askWithLimit(ActorWithReturn<Call, Boolean> pool) {
    return call -> pool.ask(call, CLIENT_LIMIT);
  }

  /** Returns a service that leaves a request in the mailbox when its client gives up. */
  private static OpenLoopLoad.Service waitWithoutAsk(ActorWithReturn<Call, Boolean> pool) {
    return call -> {
      try {
        pool.sendMessageReturn(call).get(OpenLoopLoad.PATIENCE, TimeUnit.NANOSECONDS);
      } catch (ExecutionException failure) {
        throw (Exception) failure.getCause();
      }
    };
  }

  /**
   * Measures new services and prints a row for each, with a column for each load.
   *
   * @param worstColumn the column whose percentiles are printed
   * @param slowColumn the column in which steps take four times as long, or -1
   */
  private void printTable(String title, int retries, double[] loads, int worstColumn, int slowColumn) throws Exception {
    var services = services();
    var columnTimes = new long[loads.length + 1];
    columnTimes[0] = System.nanoTime();
    try (var load = new OpenLoopLoad(42, retries, services)) {
      for (int i = 0; i < loads.length; i++) {
        load.slowness = i == slowColumn ? 4 : 1;
        load.load(loads[i] * OpenLoopLoad.CAPACITY, columnTimes[i] + (long) (seconds * 1e9));
        columnTimes[i + 1] = System.nanoTime();
      }
    }
    System.out.printf("%n%-30s%s   in the worst: p50, p99, refused p99 in ms; steps in vain%n", title,
        String.join("", Arrays.stream(loads).mapToObj("%6.1f"::formatted).toList()));
    for (var service : services) {
      System.out.printf("%-30s", service.name);
      for (int i = 0; i < loads.length; i++)
        System.out.printf("%6.0f", service.tally(columnTimes[i], columnTimes[i + 1]).goodput());
      var worst = service.tally(columnTimes[worstColumn], columnTimes[worstColumn + 1]);
      System.out.printf("%8.0f%6.0f%9.3f%8d of %d%n", worst.median(), worst.p99(), worst.refusalP99(),
          service.wastedSteps.sum(), service.steps.sum());
    }
    for (var closeable : closeables) closeable.close();
    closeables.clear();
  }
}
