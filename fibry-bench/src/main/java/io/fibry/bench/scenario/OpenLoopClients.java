package io.fibry.bench.scenario;

import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A load that does not wait for answers: clients come at random times, and whoever has not been
 * answered within a limit has gone.
 */
final class OpenLoopClients implements AutoCloseable {
  /** Whoever waits longer has gone. */
  static final long PATIENCE = TimeUnit.MILLISECONDS.toNanos(500);

  /** How a client is served; throws if he is not. */
  interface Service {
    void serve() throws Exception;
  }

  /** Answers in time, a second; of them, the milliseconds that 99 of 100 did not exceed. */
  record Seen(double goodput, double slowest) {}

  private final Service service;
  private final Random random = new Random(42); // the same clients for everybody
  private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
  private final Queue<Long> inTime = new ConcurrentLinkedQueue<>();

  OpenLoopClients(Service service) {
    this.service = service;
  }

  /** So many clients a second for so long; what was answered meanwhile. */
  Seen load(double perSecond, double seconds) {
    inTime.clear();
    long began = System.nanoTime();
    long end = began + (long) (seconds * 1e9);
    for (double at = began; (at += -Math.log(1 - random.nextDouble()) / perSecond * 1e9) < end;) {
      for (long left = (long) at - System.nanoTime(); left > 0; left = (long) at - System.nanoTime())
        LockSupport.parkNanos(left);
      long came = (long) at;
      clients.execute(() -> client(came));
    }
    for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) LockSupport.parkNanos(left);
    long[] took = inTime.stream().mapToLong(Long::longValue).sorted().toArray();
    return new Seen(took.length / Experiment.seconds(began),
        took.length == 0 ? 0 : took[(took.length - 1) * 99 / 100] / 1e6);
  }

  private void client(long came) {
    try {
      service.serve();
      long took = System.nanoTime() - came;
      if (took <= PATIENCE) inTime.add(took);
    } catch (Exception notServed) { // as the client sees it
    }
  }

  @Override
  public void close() {
    clients.shutdownNow();
  }
}
