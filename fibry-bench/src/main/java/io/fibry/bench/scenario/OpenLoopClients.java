package io.fibry.bench.scenario;

import io.fibry.bench.PoissonArrivals;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Starts clients of a service at random times, independent of the answers (an open loop). An answer
 * that comes later than {@link #PATIENCE} does not count; the service should give up by then.
 */
final class OpenLoopClients implements AutoCloseable {
  static final long PATIENCE = TimeUnit.MILLISECONDS.toNanos(500);

  /** Serves a client, or throws. */
  interface Service {
    void serve() throws Exception;
  }

  /** Timely answers per second, and the 99th percentile of their latencies in milliseconds. */
  record LoadStatistics(double goodput, double p99) {}

  private final Service service;
  private final PoissonArrivals arrivals = new PoissonArrivals(42); // fixed seed: the same for all services
  private final ExecutorService clientThreads = Executors.newVirtualThreadPerTaskExecutor();

  OpenLoopClients(Service service) {
    this.service = service;
  }

  /**
   * Starts {@code perSecond} clients a second for {@code seconds}, and returns the rate and the
   * latency of the answers in that time.
   */
  LoadStatistics load(double perSecond, double seconds) {
    var latencies = new ConcurrentLinkedQueue<Long>(); // in nanoseconds, of the timely answers of this call
    long began = System.nanoTime();
    long end = began + (long) (seconds * 1e9);
    arrivals.run(perSecond, end, arrival -> clientThreads.execute(() -> serveClient(arrival, latencies)));
    PoissonArrivals.waitUntil(end);
    long[] sorted = latencies.stream().mapToLong(Long::longValue).sorted().toArray();
    return new LoadStatistics(sorted.length / Experiment.secondsSince(began),
        sorted.length == 0 ? 0 : sorted[(sorted.length - 1) * 99 / 100] / 1e6);
  }

  private void serveClient(long arrival, Queue<Long> latencies) {
    try {
      service.serve();
      long latency = System.nanoTime() - arrival;
      if (latency <= PATIENCE) latencies.add(latency);
    } catch (Exception failure) { // the client was refused, or the service gave up
    }
  }

  @Override
  public void close() {
    clientThreads.shutdownNow();
  }
}
