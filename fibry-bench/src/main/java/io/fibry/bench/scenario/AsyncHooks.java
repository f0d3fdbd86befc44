package io.fibry.bench.scenario;

import io.fibry.ActorBuilder;
import io.fibry.ActorSystem;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.bench.ChildJvm;
import io.fibry.bench.PoissonArrivals;
import io.fibry.bench.report.ResultRow;
import io.fibry.flow.HookedFunction;
import io.fibry.mailbox.Mailbox;
import io.fibry.pool.Pools;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Measures how many asynchronous hooks complete in a second: on fibers, on a platform thread for
 * each hook, and on a pool of platform threads. Each side has its own JVM.
 */
public final class AsyncHooks {
  private static final int POOL_SIZE = 200;
  private static final long HOOK_NANOS = (long) (Double.parseDouble(System.getProperty("seconds", "1")) * 1e9);

  private AsyncHooks() {}

  /**
   * Runs {@code -Dsize} hooks that take {@code -Dseconds} each, and a fiftieth of them if a hook
   * occupies a platform thread.
   */
  public static void main(String[] args) throws Exception {
    if (args.length == 2) {
      run(args[0], Integer.parseInt(args[1]));
      return;
    }
    int hooks = Experiment.size(100_000);
    int fewerHooks = Math.max(1, hooks / 50);
    var experiment =
        new Experiment("hooks",
            String.format("%,d asynchronous hooks of 1 s each; %,d on platform threads", hooks, fewerHooks));
    measure(experiment, "fibry, fibers", "fibers", hooks, "100,000 in 9 s: 11,100; 162 MB");
    measure(experiment, "fibry, pool of 200 platform threads", "pool", fewerHooks,
        "100,000 in 61-70 s, which does not add up; 457-638 MB");
    measure(experiment, "fibry, a platform thread each", "threads", fewerHooks, "a cached pool: out of memory");
    experiment.write();
  }

  private static void measure(Experiment experiment, String side, String kind, int hooks, String publishedRate)
      throws Exception {
    double[] measurements =
        ChildJvm.measurements(List.of("-Dseconds=" + HOOK_NANOS / 1e9), AsyncHooks.class, kind, hooks);
    experiment.add(ResultRow.of(side, "hooks/s", publishedRate, measurements[0]));
    experiment.add(ResultRow.of(side + ", most memory of the process", "MB", "", measurements[1]));
  }

  private static void run(String kind, int hooks) throws Exception {
    var remaining = new CountDownLatch(hooks);
    var function = function(kind, remaining);
    long began = System.nanoTime();
    for (int i = 0; i < hooks; i++) function.handle(i);
    remaining.await();
    ChildJvm.tell(hooks / Experiment.secondsSince(began), memoryMegabytes());
  }

  /** Returns the peak memory of the process or, without {@code /proc}, its heap, in megabytes. */
  private static double memoryMegabytes() throws Exception {
    var status = Path.of("/proc/self/status");
    if (!Files.exists(status)) return Runtime.getRuntime().totalMemory() / 1e6;
    try (var lines = Files.lines(status)) {
      return Double.parseDouble(
          lines.filter(line -> line.startsWith("VmHWM")).findFirst().orElseThrow().replaceAll("\\D", "")) / 1_000;
    }
  }

  private static Handler.Returning<Integer, Integer> function(String kind, CountDownLatch remaining) {
    HookedFunction.After<Integer, Integer> hook = (n, reply) -> waitAndCountDown(remaining);
    return switch (kind) {
      case "fibers" -> hooked(ActorSystem.anonymous().strategy(Strategy.FIBER)).afterAsync(hook);
      case "threads" -> hooked(ActorSystem.anonymous().strategy(Strategy.THREAD)).afterAsync(hook);
      case "pool" -> {
        var pool = Pools.fixed(ActorSystem.anonymous().strategy(Strategy.THREAD).mailbox(Mailbox.unbounded()),
            POOL_SIZE)
            .newActor((Integer n) -> waitAndCountDown(remaining));
        yield hooked(ActorSystem.anonymous()).after((n, reply) -> pool.sendMessage(n));
      }
      default -> throw new IllegalArgumentException("no side '" + kind + "'; there are fibers, threads and pool");
    };
  }

  private static HookedFunction<Integer, Integer> hooked(ActorBuilder<?> builder) {
    return HookedFunction.around(builder, (Integer n) -> n + 1);
  }

  private static void waitAndCountDown(CountDownLatch remaining) {
    PoissonArrivals.waitUntil(System.nanoTime() + HOOK_NANOS);
    remaining.countDown();
  }
}
