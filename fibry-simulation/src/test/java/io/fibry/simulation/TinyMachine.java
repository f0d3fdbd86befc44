package io.fibry.simulation;

import io.fibry.simulation.agent.AgentAttacher;
import io.fibry.simulation.run.MailboxLimiter;
import io.fibry.simulation.run.VirtualThreadInternals;
import io.fibry.simulation.tap.MachineLookup;
import io.fibry.simulation.tap.RefusingSocket;
import io.fibry.simulation.tap.SimulatedMachine;
import io.fibry.simulation.tap.SimulationThread;
import io.fibry.support.Patience;
import java.net.SocketImpl;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;

/**
 * A minimal simulated machine for tests. Threads run in the order in which they become ready, and
 * time jumps to the next timer.
 */
final class TinyMachine implements SimulatedMachine, MailboxLimiter {
  static final long EPOCH = 1_767_225_600_000L; // the first of January 2026, in ms
  static final long THREAD_ID = 4711;

  static final class StubSocket extends RefusingSocket {}

  private static final class Timer extends CompletableFuture<Void> {
    private final long dueNanos;
    private final Runnable task;

    private Timer(long dueNanos, Runnable task) {
      this.dueNanos = dueNanos;
      this.task = task;
    }
  }

  private final Queue<Runnable> ready = new ConcurrentLinkedQueue<>();
  private final PriorityQueue<Timer> timers = new PriorityQueue<>(Comparator.comparingLong(timer -> timer.dueNanos));
  private long now;
  long spins;

  private TinyMachine() {}

  /** Runs a program on a simulated thread, and returns its result. */
  static <T> T play(Callable<T> program) throws Exception {
    AgentAttacher.ensure();
    var machine = new TinyMachine();
    var result = new CompletableFuture<T>();
    var carrier = new SimulationThread(() -> machine.loop(program, result), "carrier");
    carrier.machine = machine;
    carrier.start();
    Patience.eventually("the program does not end", result::isDone);
    try {
      return result.get();
    } catch (ExecutionException failure) {
      if (failure.getCause() instanceof Exception cause) throw cause;
      throw new AssertionError(failure.getCause());
    }
  }

  /**
   * Runs a program on a virtual and on a platform thread, outside of the simulation, and returns
   * its two results.
   */
  static <T> List<T> runOutside(Callable<T> program) throws Exception {
    try (var virtual = Executors.newVirtualThreadPerTaskExecutor()) {
      return List.of(virtual.submit(program).get(), program.call());
    }
  }

  /** Returns the machine of this simulated thread. */
  static TinyMachine machine() {
    return (TinyMachine) MachineLookup.machine();
  }

  /** Returns whether this thread is simulated. */
  static boolean isSimulated() {
    return MachineLookup.machine() != null;
  }

  private <T> void loop(Callable<T> program, CompletableFuture<T> result) {
    VirtualThreadInternals.builder(this).name("main").start(() -> {
      try {
        result.complete(program.call());
      } catch (Throwable failure) {
        result.completeExceptionally(failure);
      }
    });
    while (!result.isDone()) {
      var next = ready.poll();
      if (next != null) next.run();
      else advance();
    }
  }

  private void advance() {
    var first = timers.poll();
    if (first == null || first.isDone()) return;
    now = Math.max(now, first.dueNanos);
    first.complete(null);
    first.task.run();
  }

  int pendingTimers() {
    return (int) timers.stream().filter(timer -> !timer.isDone()).count();
  }

  @Override
  public void execute(Runnable runnable) {
    ready.add(runnable);
  }

  @Override
  public long nanoTime() {
    return now;
  }

  @Override
  public long currentTimeMillis() {
    return EPOCH + now / 1_000_000;
  }

  @Override
  public Future<?> schedule(Runnable task, long nanos) {
    var timer = new Timer(now + nanos, task);
    timers.add(timer);
    return timer;
  }

  @Override
  public long random() {
    return 1L << 60;
  }

  @Override
  public void spin() {
    spins++;
  }

  @Override
  public long idOf(Thread thread) {
    return THREAD_ID;
  }

  @Override
  public ThreadFactory threads() {
    return VirtualThreadInternals.builder(this).factory();
  }

  @Override
  public SocketImpl socket(boolean server) {
    return new StubSocket();
  }

  @Override
  public int limitedCapacity(int capacity) {
    return 1;
  }
}
