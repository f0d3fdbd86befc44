package io.fibry.bench.scenario;

import io.fibry.bench.PoissonArrivals;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Clients that come at random times, independent of the answers; each gives up after half a second.
 */
final class OpenLoopClients implements AutoCloseable {
  static final long PATIENCE = TimeUnit.MILLISECONDS.toNanos(500);

  /** Serves a client; throws if it does not. */
  interface Service {
    void serve() throws Exception;
  }

  /** Answers in time per second, and the 99th percentile of how long they took, in milliseconds. */
  record Seen(double goodput, double slowest) {}

  private final Service service;
  private final PoissonArrivals arrivals = new PoissonArrivals(42); // the same for all services
  private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
  private final Queue<Long> inTime = new ConcurrentLinkedQueue<>();

  OpenLoopClients(Service service) {
    this.service = service;
  }

  /** Lets clients come for {@code seconds}, and returns what was answered meanwhile. */
  Seen load(double perSecond, double seconds) {
    inTime.clear();
    long began = System.nanoTime();
    long end = began + (long) (seconds * 1e9);
    arrivals.run(perSecond, end, came -> clients.execute(() -> client(came)));
    PoissonArrivals.waitUntil(end);
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
