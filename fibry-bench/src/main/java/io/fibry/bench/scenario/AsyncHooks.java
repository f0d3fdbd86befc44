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
 * How many asynchronous hooks are done in a second: on fibers, on a platform thread each, and on a
 * pool of platform threads. Each side has a JVM of its own.
 */
public final class AsyncHooks {
  private static final int POOL = 200;
  private static final long SECOND = (long) (Double.parseDouble(System.getProperty("seconds", "1")) * 1e9);

  private AsyncHooks() {}

  /**
   * {@code -Dsize} hooks that take {@code -Dseconds}; a fiftieth of them where each holds a
   * platform thread.
   */
  public static void main(String[] args) throws Exception {
    if (args.length == 2) {
      run(args[0], Integer.parseInt(args[1]));
      return;
    }
    int hooks = Experiment.size(100_000);
    int fewer = Math.max(1, hooks / 50);
    var experiment =
        new Experiment("hooks",
            String.format("%,d asynchronous hooks of 1 s each; %,d on platform threads", hooks, fewer));
    measure(experiment, "fibry, fibers", "fibers", hooks, "100,000 in 9 s: 11,100; 162 MB");
    measure(experiment, "fibry, pool of 200 platform threads", "pool", fewer,
        "100,000 in 61-70 s, which does not add up; 457-638 MB");
    measure(experiment, "fibry, a platform thread each", "threads", fewer, "a cached pool: out of memory");
    experiment.write();
  }

  private static void measure(Experiment experiment, String side, String where, int hooks, String published)
      throws Exception {
    double[] figures = ChildJvm.figures(List.of("-Dseconds=" + SECOND / 1e9), AsyncHooks.class, where, hooks);
    experiment.add(ResultRow.of(side, "hooks/s", published, figures[0]));
    experiment.add(ResultRow.of(side + ", most memory of the process", "MB", "", figures[1]));
  }

  private static void run(String where, int hooks) throws Exception {
    var done = new CountDownLatch(hooks);
    var function = function(where, done);
    long began = System.nanoTime();
    for (int i = 0; i < hooks; i++) function.handle(i);
    done.await();
    ChildJvm.tell(hooks / Experiment.seconds(began), memory());
  }

  /** The peak of the process in megabytes, or the heap if the system does not tell. */
  private static double memory() throws Exception {
    var status = Path.of("/proc/self/status");
    if (!Files.exists(status)) return Runtime.getRuntime().totalMemory() / 1e6;
    try (var lines = Files.lines(status)) {
      return Double.parseDouble(
          lines.filter(line -> line.startsWith("VmHWM")).findFirst().orElseThrow().replaceAll("\\D", "")) / 1_000;
    }
  }

  private static Handler.Returning<Integer, Integer> function(String where, CountDownLatch done) {
    HookedFunction.After<Integer, Integer> hook = (n, reply) -> aSecond(done);
    return switch (where) {
      case "fibers" -> hooked(ActorSystem.anonymous().strategy(Strategy.FIBER)).afterAsync(hook);
      case "threads" -> hooked(ActorSystem.anonymous().strategy(Strategy.THREAD)).afterAsync(hook);
      case "pool" -> {
        var pool = Pools.fixed(ActorSystem.anonymous().strategy(Strategy.THREAD).mailbox(Mailbox.unbounded()), POOL)
            .newActor((Integer n) -> aSecond(done));
        yield hooked(ActorSystem.anonymous()).after((n, reply) -> pool.sendMessage(n));
      }
      default -> throw new IllegalArgumentException("no side '" + where + "'; there are fibers, threads and pool");
    };
  }

  private static HookedFunction<Integer, Integer> hooked(ActorBuilder<?> builder) {
    return HookedFunction.around(builder, (Integer n) -> n + 1);
  }

  private static void aSecond(CountDownLatch done) {
    PoissonArrivals.waitUntil(System.nanoTime() + SECOND);
    done.countDown();
  }
}
