package io.fibry.bench;

import io.fibry.AskTimeoutException;
import io.fibry.MailboxFullException;
import java.util.List;
import java.util.Queue;
import java.util.Random;
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
 * An open-loop load: clients come at random times, however the services fare, and each asks all of
 * them side by side. Whoever has waited for half a second gives up; he may try again.
 */
final class OpenLoopLoad implements AutoCloseable {
  static final int RESOURCES = 4;
  static final int STEPS = 3;
  static final long PATIENCE = TimeUnit.MILLISECONDS.toNanos(500);
  static final double CAPACITY = RESOURCES / (STEPS * 0.010); // requests a second

  /** How a request is served: waits for the answer, and throws what a client would see. */
  interface Service {
    void serve(Call call) throws Exception;
  }

  enum Outcome { GOOD, LATE, REFUSED, GAVE_UP }

  private record Answer(long sent, long ended, Outcome end) {}

  /** What a service did in some time. */
  record Tally(double goodput, double median, double slowest, double refusal) {}

  /** A service, and what its clients saw. */
  static final class ObservedService {
    final String name;
    private final Service service;
    private final Queue<Answer> outcomes = new ConcurrentLinkedQueue<>();
    final LongAdder steps = new LongAdder();
    final LongAdder inVain = new LongAdder(); // of them, begun for somebody who had gone

    ObservedService(String name, Service service) {
      this.name = name;
      this.service = service;
    }

    private Outcome ask(OpenLoopLoad surge) {
      var call = new Call(this, surge);
      var end = Outcome.GAVE_UP;
      try {
        service.serve(call);
        end = call.isTooLate() ? Outcome.LATE : Outcome.GOOD;
      } catch (MailboxFullException refused) {
        end = Outcome.REFUSED;
      } catch (AskTimeoutException | TimeoutException gaveUp) { // as it is
      } catch (Exception other) {
        throw new AssertionError(other);
      }
      outcomes.add(new Answer(call.sent, System.nanoTime(), end));
      return end;
    }

    /** Of what ended between these times. */
    Tally tally(long from, long to) {
      var ended = outcomes.stream().filter(o -> from <= o.ended && o.ended < to).toList();
      return new Tally(ended.stream().filter(o -> o.end == Outcome.GOOD).count() * 1e9 / (to - from),
          millis(ended, Outcome.GOOD, 50), millis(ended, Outcome.GOOD, 99), millis(ended, Outcome.REFUSED, 99));
    }

    private static double millis(List<Answer> ended, Outcome end, int percent) {
      var times = ended.stream().filter(o -> o.end == end).mapToLong(o -> o.ended - o.sent).sorted().toArray();
      return times.length == 0 ? 0 : times[(times.length - 1) * percent / 100] / 1e6;
    }
  }

  /** A request: three steps of 5 to 15 ms, each on one of four resources. */
  static final class Call {
    private final long sent = System.nanoTime();
    private final ObservedService side;
    private final OpenLoopLoad surge;

    private Call(ObservedService side, OpenLoopLoad surge) {
      this.side = side;
      this.surge = surge;
    }

    boolean isTooLate() {
      return System.nanoTime() - sent > PATIENCE;
    }

    void step() throws InterruptedException {
      side.steps.increment();
      if (isTooLate()) side.inVain.increment();
      TimeUnit.MICROSECONDS.sleep((long) (ThreadLocalRandom.current().nextLong(5_000, 15_000) * surge.slowness));
    }

    void steps() throws InterruptedException {
      for (int i = 0; i < STEPS; i++) step();
    }
  }

  private final Random random;
  private final int retries;
  private final List<ObservedService> sides;
  private final Phaser clients = new Phaser(1);
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  volatile double slowness = 1; // of each step; written by who makes the load

  OpenLoopLoad(long seed, int retries, List<ObservedService> sides) {
    this.random = new Random(seed);
    this.retries = retries;
    this.sides = sides;
  }

  /** So many requests a second until then, at random times. */
  void load(double perSecond, long until) {
    for (double at = System.nanoTime(); (at += -Math.log(1 - random.nextDouble()) / perSecond * 1e9) < until;) {
      for (long left = (long) at - System.nanoTime(); left > 0; left = (long) at - System.nanoTime())
        LockSupport.parkNanos(left);
      for (var side : sides) {
        clients.register();
        threads.execute(() -> client(side));
      }
    }
  }

  private void client(ObservedService side) {
    for (int tries = 0; side.ask(this) != Outcome.GOOD && tries < retries; tries++)
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
