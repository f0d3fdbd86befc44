package io.fibry.bench;

import io.fibry.AskTimeoutException;
import io.fibry.MailboxFullException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Phaser;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * Starts clients at random times, independent of the answers (an open loop). Each arrival starts
 * one client of every service, so all services get the same load. A client gives up after
 * {@link #PATIENCE}, and may try again.
 */
final class OpenLoopLoad implements AutoCloseable {
  static final int RESOURCES = 4;
  static final int STEPS = 3;
  static final long PATIENCE = TimeUnit.MILLISECONDS.toNanos(500);
  static final double CAPACITY = RESOURCES / (STEPS * 0.010); // requests a second

  /** A service: waits until a request is answered, or throws the exception that the client gets. */
  interface Service {
    void serve(Call call) throws Exception;
  }

  enum Outcome { GOOD, LATE, REFUSED, GAVE_UP }

  /** A request that has ended, with times of {@link System#nanoTime}. */
  private record Attempt(long startedAt, long endedAt, Outcome outcome) {}

  /**
   * The statistics of a period: good answers per second and, in milliseconds, the median and the
   * 99th percentile of good answers, and the 99th percentile of refusals.
   */
  record Tally(double goodput, double median, double p99, double refusalP99) {}

  static final class ObservedService {
    final String name;
    private final Service service;
    private final Queue<Attempt> attempts = new ConcurrentLinkedQueue<>();
    final LongAdder steps = new LongAdder();
    final LongAdder wastedSteps = new LongAdder(); // steps that began after their client had given up

    ObservedService(String name, Service service) {
      this.name = name;
      this.service = service;
    }

    private Outcome ask(OpenLoopLoad load) {
      var call = new Call(this, load);
      var outcome = Outcome.GAVE_UP;
      try {
        service.serve(call);
        outcome = call.isTooLate() ? Outcome.LATE : Outcome.GOOD;
      } catch (MailboxFullException | RejectedExecutionException failure) {
        outcome = Outcome.REFUSED;
      } catch (AskTimeoutException | TimeoutException failure) { // the outcome is GAVE_UP
      } catch (Exception failure) {
        throw new AssertionError(failure);
      }
      attempts.add(new Attempt(call.startedAt, System.nanoTime(), outcome));
      return outcome;
    }

    /** Counts the requests that ended between two times of {@link System#nanoTime}. */
    Tally tally(long from, long to) {
      var matches = attempts.stream().filter(attempt -> from <= attempt.endedAt && attempt.endedAt < to).toList();
      return new Tally(
          matches.stream().filter(attempt -> attempt.outcome == Outcome.GOOD).count() * 1e9 / (to - from),
          percentile(matches, Outcome.GOOD, 50), percentile(matches, Outcome.GOOD, 99),
          percentile(matches, Outcome.REFUSED, 99));
    }

    private static double percentile(List<Attempt> attempts, Outcome outcome, int percent) {
      var nanos =
          attempts.stream().filter(attempt -> attempt.outcome == outcome)
              .mapToLong(attempt -> attempt.endedAt - attempt.startedAt).sorted().toArray();
      return nanos.length == 0 ? 0 : nanos[(nanos.length - 1) * percent / 100] / 1e6;
    }
  }

  /** A request: three steps of 5 to 15 ms, each on one of four resources. */
  static final class Call {
    private final long startedAt = System.nanoTime();
    private final ObservedService service;
    private final OpenLoopLoad load;

    private Call(ObservedService service, OpenLoopLoad load) {
      this.service = service;
      this.load = load;
    }

    boolean isTooLate() {
      return System.nanoTime() - startedAt > PATIENCE;
    }

    void step() throws InterruptedException {
      service.steps.increment();
      if (isTooLate()) service.wastedSteps.increment();
      TimeUnit.MICROSECONDS.sleep((long) (ThreadLocalRandom.current().nextLong(5_000, 15_000) * load.slowness));
    }

    void steps() throws InterruptedException {
      for (int i = 0; i < STEPS; i++) step();
    }
  }

  private final PoissonArrivals arrivals;
  private final int retries;
  private final List<ObservedService> services;
  private final Phaser runningClients = new Phaser(1);
  private final ExecutorService clientThreads = Executors.newVirtualThreadPerTaskExecutor();
  volatile double slowness = 1; // factor for the time of each step; written by the loading thread, read by calls

  OpenLoopLoad(long seed, int retries, List<ObservedService> services) {
    this.arrivals = new PoissonArrivals(seed);
    this.retries = retries;
    this.services = services;
  }

  /**
   * Starts {@code perSecond} clients of each service per second, until {@link System#nanoTime}
   * reaches {@code until}.
   */
  void load(double perSecond, long until) {
    arrivals.run(perSecond, until, arrival -> {
      for (var service : services) {
        runningClients.register();
        clientThreads.execute(() -> client(service));
      }
    });
  }

  private void client(ObservedService service) {
    for (int retry = 0; service.ask(this) != Outcome.GOOD && retry < retries; retry++)
      LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(50_000_000));
    runningClients.arriveAndDeregister();
  }

  /** Waits until all clients have ended. */
  @Override
  public void close() {
    runningClients.arriveAndAwaitAdvance();
    clientThreads.shutdownNow();
  }
}
