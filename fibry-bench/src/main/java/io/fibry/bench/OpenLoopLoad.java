package io.fibry.bench;

import io.fibry.AskTimeoutException;
import io.fibry.MailboxFullException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Phaser;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * Clients that come at random times, independent of the answers, and ask all services at once. A
 * client gives up after half a second, and may try again.
 */
final class OpenLoopLoad implements AutoCloseable {
  static final int RESOURCES = 4;
  static final int STEPS = 3;
  static final long PATIENCE = TimeUnit.MILLISECONDS.toNanos(500);
  static final double CAPACITY = RESOURCES / (STEPS * 0.010); // requests a second

  /** Waits for the answer; throws what the client would see. */
  interface Service {
    void serve(Call call) throws Exception;
  }

  enum Outcome { GOOD, LATE, REFUSED, GAVE_UP }

  private record Answer(long sent, long ended, Outcome outcome) {}

  /** Good answers per second, and percentiles in milliseconds. */
  record Tally(double goodput, double median, double slowest, double refusal) {}

  static final class ObservedService {
    final String name;
    private final Service service;
    private final Queue<Answer> answers = new ConcurrentLinkedQueue<>();
    final LongAdder steps = new LongAdder();
    final LongAdder inVain = new LongAdder(); // steps after their client gave up

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
      } catch (MailboxFullException refused) {
        outcome = Outcome.REFUSED;
      } catch (AskTimeoutException | TimeoutException gaveUp) { // as it is
      } catch (Exception other) {
        throw new AssertionError(other);
      }
      answers.add(new Answer(call.sent, System.nanoTime(), outcome));
      return outcome;
    }

    /** Counts the requests that ended between two times of {@link System#nanoTime}. */
    Tally tally(long from, long to) {
      var ended = answers.stream().filter(o -> from <= o.ended && o.ended < to).toList();
      return new Tally(ended.stream().filter(o -> o.outcome == Outcome.GOOD).count() * 1e9 / (to - from),
          millis(ended, Outcome.GOOD, 50), millis(ended, Outcome.GOOD, 99), millis(ended, Outcome.REFUSED, 99));
    }

    private static double millis(List<Answer> ended, Outcome outcome, int percent) {
      var times =
          ended.stream().filter(o -> o.outcome == outcome).mapToLong(o -> o.ended - o.sent).sorted().toArray();
      return times.length == 0 ? 0 : times[(times.length - 1) * percent / 100] / 1e6;
    }
  }

  /** A request: three steps of 5 to 15 ms, each on one of four resources. */
  static final class Call {
    private final long sent = System.nanoTime();
    private final ObservedService service;
    private final OpenLoopLoad load;

    private Call(ObservedService service, OpenLoopLoad load) {
      this.service = service;
      this.load = load;
    }

    boolean isTooLate() {
      return System.nanoTime() - sent > PATIENCE;
    }

    void step() throws InterruptedException {
      service.steps.increment();
      if (isTooLate()) service.inVain.increment();
      TimeUnit.MICROSECONDS.sleep((long) (ThreadLocalRandom.current().nextLong(5_000, 15_000) * load.slowness));
    }

    void steps() throws InterruptedException {
      for (int i = 0; i < STEPS; i++) step();
    }
  }

  private final PoissonArrivals arrivals;
  private final int retries;
  private final List<ObservedService> services;
  private final Phaser clients = new Phaser(1);
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  volatile double slowness = 1; // of each step; written by the loading thread, read by calls

  OpenLoopLoad(long seed, int retries, List<ObservedService> services) {
    this.arrivals = new PoissonArrivals(seed);
    this.retries = retries;
    this.services = services;
  }

  /** Lets clients come until a time of {@link System#nanoTime}. */
  void load(double perSecond, long until) {
    arrivals.run(perSecond, until, at -> {
      for (var service : services) {
        clients.register();
        threads.execute(() -> client(service));
      }
    });
  }

  private void client(ObservedService service) {
    for (int tries = 0; service.ask(this) != Outcome.GOOD && tries < retries; tries++)
      LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(50_000_000));
    clients.arriveAndDeregister();
  }

  /** Waits for the last answers. */
  @Override
  public void close() {
    clients.arriveAndAwaitAdvance();
    threads.shutdownNow();
  }
}
