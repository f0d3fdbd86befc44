package io.fibry.pool;

import io.fibry.AskTimeoutException;
import io.fibry.MailboxFullException;
import io.fibry.Waits;
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
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * Clients that arrive at random, independent of the load, and ask all services at the same time. A
 * request sleeps in three steps of 5 to 15 ms, each on one of four resources. After half a second
 * its client gives up.
 */
final class LoadGenerator {
  static final int RESOURCES = 4;
  static final long PATIENCE = TimeUnit.MILLISECONDS.toNanos(500);
  private static final int STEPS = 3;

  /** Waits for the answer, and throws what a client sees. */
  interface Service {
    void serve(Call call) throws Exception;
  }

  enum End { GOOD, LATE, REFUSED, GAVE_UP }

  /** The end that a client saw, when, and how long its request was worked at; in nanoseconds. */
  record Outcome(long sent, long ended, End end, long work) {
    long took() {
      return ended - sent;
    }
  }

  /** A service and its outcomes. */
  static final class Side {
    private final Service service;
    final Queue<Outcome> outcomes = new ConcurrentLinkedQueue<>();
    final LongAdder wasted = new LongAdder(); // steps after the client gave up

    Side(Service service) {
      this.service = service;
    }

    private void ask() {
      var call = new Call(this);
      var end = End.GAVE_UP;
      try {
        service.serve(call);
        end = call.isTooLate() ? End.LATE : End.GOOD;
      } catch (MailboxFullException refused) {
        end = End.REFUSED;
      } catch (AskTimeoutException | TimeoutException gaveUp) {} catch (Exception other) {
        throw new AssertionError(other);
      }
      outcomes.add(new Outcome(call.sent, System.nanoTime(), end, end == End.GOOD ? call.work : 0));
    }

    List<Outcome> ended(Span span) {
      return outcomes.stream().filter(o -> span.has(o.ended)).toList();
    }

    List<Outcome> sent(Span span) {
      return outcomes.stream().filter(o -> span.has(o.sent)).toList();
    }

    /** Answers in time, per second. */
    double goodput(Span span) {
      return ended(span).stream().filter(o -> o.end == End.GOOD).count() / span.seconds();
    }

    /** Possible answers per second, by the work of those in time. */
    double capacity(Span span) {
      return RESOURCES * 1e9
          / ended(span).stream().filter(o -> o.end == End.GOOD).mapToLong(Outcome::work).average().orElseThrow();
    }

    /** Returns a percentile of the requests that ended in this way. */
    long percentile(int percent, Span span, End end) {
      var times = ended(span).stream().filter(o -> o.end == end).mapToLong(Outcome::took).sorted().toArray();
      return times.length == 0 ? 0 : times[(times.length - 1) * percent / 100];
    }
  }

  static final class Call {
    final long sent = System.nanoTime();
    private final Side side;
    private long work; // written by the service, read by the client after its answer

    private Call(Side side) {
      this.side = side;
    }

    boolean isTooLate() {
      return System.nanoTime() - sent > PATIENCE;
    }

    /** One step, with a resource. */
    void step() throws InterruptedException {
      if (isTooLate()) side.wasted.increment();
      work += pause();
    }

    /** All steps, with one resource. */
    void steps() throws InterruptedException {
      for (int i = 0; i < STEPS; i++) step();
    }
  }

  record Span(long from, long to) {
    boolean has(long time) {
      return from <= time && time < to;
    }

    double seconds() {
      return (to - from) / 1e9;
    }

    /** Without its first seconds. */
    Span after(double seconds) {
      return new Span(from + (long) (seconds * 1e9), to);
    }
  }

  private final Random random;
  private final Phaser clients = new Phaser(1);
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final List<Side> sides;

  LoadGenerator(long seed, Side... sides) {
    this.random = new Random(seed);
    this.sides = List.of(sides);
  }

  private static long pause() throws InterruptedException {
    long begin = System.nanoTime();
    TimeUnit.MICROSECONDS.sleep(ThreadLocalRandom.current().nextLong(5_000, 15_000));
    return System.nanoTime() - begin;
  }

  /** Requests per second that the resources allow now. */
  double capacity(double seconds) throws InterruptedException {
    var steps = new LongAdder();
    var work = new LongAdder();
    long end = System.nanoTime() + (long) (seconds * 1e9);
    var all = new CountDownLatch(RESOURCES);
    for (int i = 0; i < RESOURCES; i++) threads.submit(() -> {
      for (; System.nanoTime() < end; steps.increment()) work.add(pause());
      all.countDown();
      return null;
    });
    all.await();
    return RESOURCES * 1e9 * steps.sum() / work.sum() / STEPS;
  }

  /** Requests at random times. */
  Span load(double perSecond, double seconds) {
    long from = System.nanoTime();
    long to = from + (long) (seconds * 1e9);
    for (double at = from; (at += -Math.log(1 - random.nextDouble()) / perSecond * 1e9) < to;) {
      for (long left = (long) at - System.nanoTime(); left > 0; left = (long) at - System.nanoTime())
        LockSupport.parkNanos(left);
      for (var side : sides) {
        clients.register();
        threads.execute(() -> {
          side.ask();
          clients.arriveAndDeregister();
        });
      }
    }
    return new Span(from, to);
  }

  /** Waits for the last answers. */
  void close() {
    clients.arriveAndAwaitAdvance();
    threads.shutdownNow();
  }
}
