package io.fibry.pool;

import io.fibry.AskTimeoutException;
import io.fibry.MailboxFullException;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Phaser;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * Simulates clients that arrive at random times, independent of the load. Each client sends its
 * request to all services at the same time. A request sleeps in three steps of 5 to 15 ms, and each
 * step needs one of four resources. A client gives up after half a second.
 */
final class LoadGenerator {
  static final int RESOURCES = 4;
  static final long PATIENCE = TimeUnit.MILLISECONDS.toNanos(500);
  private static final int STEPS = 3;

  /**
   * A service to which clients send requests. Its method waits for the answer, or throws the
   * exception that the client gets.
   */
  interface Service {
    void serve(Call call) throws Exception;
  }

  enum End { GOOD, LATE, REFUSED, GAVE_UP }

  /** The end of a request as its client saw it, with times and work in nanoseconds. */
  record Outcome(long sentAt, long endedAt, End end, long work) {
    long duration() {
      return endedAt - sentAt;
    }
  }

  /** A service and its outcomes. */
  static final class Side {
    private final Service service;
    final Queue<Outcome> outcomes = new ConcurrentLinkedQueue<>();
    final LongAdder wastedSteps = new LongAdder(); // steps that were performed after the client had given up

    Side(Service service) {
      this.service = service;
    }

    private void ask() {
      var call = new Call(this);
      var end = End.GAVE_UP;
      try {
        service.serve(call);
        end = call.isTooLate() ? End.LATE : End.GOOD;
      } catch (MailboxFullException refusal) {
        end = End.REFUSED;
      } catch (AskTimeoutException | TimeoutException timeout) {} catch (Exception failure) {
        throw new AssertionError(failure);
      }
      outcomes.add(new Outcome(call.sentAt, System.nanoTime(), end, end == End.GOOD ? call.work : 0));
    }

    List<Outcome> outcomesEndedIn(Span span) {
      return outcomes.stream().filter(o -> span.contains(o.endedAt)).toList();
    }

    List<Outcome> outcomesSentIn(Span span) {
      return outcomes.stream().filter(o -> span.contains(o.sentAt)).toList();
    }

    /** Returns how many answers per second came within the limit. */
    double goodput(Span span) {
      return outcomesEndedIn(span).stream().filter(o -> o.end == End.GOOD).count() / span.seconds();
    }

    /**
     * Returns how many answers per second the resources allow, given the mean work of the requests
     * that were answered within the limit.
     */
    double capacity(Span span) {
      return RESOURCES * 1e9
          / outcomesEndedIn(span).stream().filter(o -> o.end == End.GOOD).mapToLong(Outcome::work).average()
              .orElseThrow();
    }

    /** Returns a percentile of the durations of the requests with this end, in nanoseconds. */
    long percentile(int percent, Span span, End end) {
      var times = outcomesEndedIn(span).stream().filter(o -> o.end == end).mapToLong(Outcome::duration).sorted()
          .toArray();
      return times.length == 0 ? 0 : times[(times.length - 1) * percent / 100];
    }
  }

  static final class Call {
    final long sentAt = System.nanoTime();
    private final Side side;
    private long work; // written by the service, read by the client after its answer

    private Call(Side side) {
      this.side = side;
    }

    boolean isTooLate() {
      return System.nanoTime() - sentAt > PATIENCE;
    }

    /** Performs one step. The caller must have a resource. */
    void step() throws InterruptedException {
      if (isTooLate()) side.wastedSteps.increment();
      work += simulateWork();
    }

    /** Performs all steps. The caller must have a resource. */
    void steps() throws InterruptedException {
      for (int i = 0; i < STEPS; i++) step();
    }
  }

  record Span(long start, long end) {
    boolean contains(long time) {
      return start <= time && time < end;
    }

    double seconds() {
      return (end - start) / 1e9;
    }

    /** Returns the span without its first seconds. */
    Span withoutFirst(double seconds) {
      return new Span(start + (long) (seconds * 1e9), end);
    }
  }

  private final Random random;
  private final Phaser clients = new Phaser(1);
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final List<Side> sides;
  private final AtomicReference<Throwable> failure = new AtomicReference<>(); // the first failure of a client

  LoadGenerator(long seed, Side... sides) {
    this.random = new Random(seed);
    this.sides = List.of(sides);
  }

  private static long simulateWork() throws InterruptedException {
    long begin = System.nanoTime();
    TimeUnit.MICROSECONDS.sleep(ThreadLocalRandom.current().nextLong(5_000, 15_000));
    return System.nanoTime() - begin;
  }

  /** Measures how many requests per second the resources allow at present. */
  double capacity(double seconds) throws InterruptedException {
    var steps = new LongAdder();
    var work = new LongAdder();
    long end = System.nanoTime() + (long) (seconds * 1e9);
    var finished = new CountDownLatch(RESOURCES);
    for (int i = 0; i < RESOURCES; i++) threads.submit(() -> {
      for (; System.nanoTime() < end; steps.increment()) work.add(simulateWork());
      finished.countDown();
      return null;
    });
    finished.await();
    return RESOURCES * 1e9 * steps.sum() / work.sum() / STEPS;
  }

  /** Sends requests at random times. Returns the time span in which it sent them. */
  Span load(double perSecond, double seconds) {
    long start = System.nanoTime();
    long end = start + (long) (seconds * 1e9);
    for (double time = start; (time += -Math.log(1 - random.nextDouble()) / perSecond * 1e9) < end;) {
      for (long nanos = (long) time - System.nanoTime(); nanos > 0; nanos = (long) time - System.nanoTime())
        LockSupport.parkNanos(nanos);
      for (var side : sides) {
        clients.register();
        threads.execute(() -> {
          try {
            side.ask();
          } catch (Throwable askFailure) {
            failure.compareAndSet(null, askFailure);
          } finally {
            clients.arriveAndDeregister();
          }
        });
      }
    }
    return new Span(start, end);
  }

  /** Waits for the last answers. Throws the first failure of a client. */
  void close() {
    clients.arriveAndAwaitAdvance();
    threads.shutdownNow();
    if (failure.get() != null) throw new AssertionError("a client failed", failure.get());
  }
}
