package io.fibry.bench;

import io.fibry.ActorBuilder;
import io.fibry.ActorSystem;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.flow.Hooks;
import io.fibry.mailbox.Mailbox;
import io.fibry.pool.Pools;
import java.lang.management.ManagementFactory;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * How long do asynchronous hooks of a second each take? On fibers, on a platform thread each, and on a pool of 200 platform threads. {@code AsyncHooks fibers 100000} runs one of them with so many.
 */
public final class AsyncHooks {
  private static final int POOL = 200;
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private AsyncHooks() {}

  /**
   * Runs them.
   *
   * @param args which ({@code fibers}, {@code threads} or {@code pool}) and how many; none: all three, the latter two with fewer
   * @throws Exception if a function cannot be called
   */
  public static void main(String[] args) throws Exception {
    if (args.length == 2) run(args[0], Integer.parseInt(args[1]));
    else {
      run("fibers", 100_000);
      run("pool", 2_000);
      run("threads", 2_000);
    }
  }

  private static void run(String where, int hooks) throws Exception {
    var done = new CountDownLatch(hooks);
    var called = called(where, done);
    long began = System.nanoTime();
    for (int i = 0; i < hooks; i++) called.handle(i);
    long answered = System.nanoTime() - began;
    done.await();
    double seconds = (System.nanoTime() - began) / 1e9;
    System.out.printf(Locale.ROOT, "%,d hooks of 1 s on %s: answered after %.2f s, all done after %.2f s, %,.0f hooks a second; heap in use %,d MB%n", hooks, where, answered / 1e9, seconds, hooks / seconds,
        ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() >> 20);
  }

  private static Handler.Returning<Integer, Integer> called(String where, CountDownLatch done) {
    Hooks.After<Integer, Integer> hook = (n, reply) -> aSecond(done);
    return switch (where) {
      case "fibers" -> hooked(ActorSystem.anonymous().strategy(Strategy.FIBER)).afterAsync(hook);
      case "threads" -> hooked(ActorSystem.anonymous().strategy(Strategy.THREAD)).afterAsync(hook);
      case "pool" -> {
        var pool = Pools.fixed(ActorSystem.anonymous().strategy(Strategy.THREAD).mailbox(Mailbox.unbounded()), POOL).newActor((Integer n) -> aSecond(done));
        yield hooked(ActorSystem.anonymous()).after((n, reply) -> pool.sendMessage(n));
      }
      default -> throw new IllegalArgumentException("no way '" + where + "'; there are fibers, threads and pool");
    };
  }

  private static Hooks<Integer, Integer> hooked(ActorBuilder<?> how) {
    return Hooks.around(how, (Integer n) -> n + 1);
  }

  private static void aSecond(CountDownLatch done) {
    for (long end = System.nanoTime() + SECOND; System.nanoTime() < end; ) LockSupport.parkNanos(end - System.nanoTime());
    done.countDown();
  }
}
