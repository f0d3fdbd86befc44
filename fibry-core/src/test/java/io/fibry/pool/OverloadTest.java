package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.AskTimeoutException;
import io.fibry.MailboxFullException;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.LoadGenerator.End;
import io.fibry.pool.LoadGenerator.Outcome;
import io.fibry.pool.LoadGenerator.Span;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Tests three services under the same load, on a manual clock. The load is first half of their
 * capacity, then their whole capacity, then three times as much, and finally less than the
 * capacity. All tests check one such ramp. The clock advances only when all actors are quiet, so
 * each outcome depends only on the seed.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OverloadTest {
  private static final int WORKERS = 4;
  private static final int MAILBOX_CAPACITY = 16;
  private static final int STEPS = 3; // steps of a request, of 5 to 15 ms each
  private static final double CAPACITY = WORKERS / (STEPS * 0.010); // requests per second
  private static final Duration LIMIT = Duration.ofMillis(500); // a client gives up after this time

  private final class Call {
    final Service service;
    final long sentAt = clock.nanoTime();
    final long work;

    Call(Service service, long work) {
      this.service = service;
      this.work = work;
    }

    /** Performs the steps of the work. */
    boolean handle() throws InterruptedException {
      for (int i = 0; i < STEPS; i++) {
        if (clock.nanoTime() - sentAt > LIMIT.toNanos()) service.wastedSteps.incrementAndGet();
        clock.sleep(Duration.ofNanos(work / STEPS));
      }
      return true;
    }
  }

  private final class Service {
    private final ActorWithReturn<Call, Boolean> pool;
    private final boolean sendsLimit; // whether its clients send their limit together with the request
    private final List<Outcome> outcomes = new ArrayList<>(); // guarded by itself
    final AtomicInteger wastedSteps = new AtomicInteger(); // steps that were performed after the client had given up

    Service(Mailbox<Object> mailbox, boolean sendsLimit) {
      this.pool = Pools.fixed(scope.anonymous().mailbox(mailbox), WORKERS).newActorWithReturn(Call::handle);
      this.sendsLimit = sendsLimit;
    }

    void ask(long work) {
      var call = new Call(this, work);
      var answer = sendsLimit ? pool.sendMessageReturn(call, LIMIT) : pool.sendMessageReturn(call);
      answer.whenComplete((good, failure) -> {
        var end = end(call, failure);
        synchronized (outcomes) {
          outcomes.add(new Outcome(call.sentAt, clock.nanoTime(), end, end == End.GOOD ? call.work : 0));
        }
      });
    }

    private End end(Call call, Throwable failure) {
      var cause = failure instanceof CompletionException wrapped ? wrapped.getCause() : failure;
      if (cause instanceof MailboxFullException) return End.REFUSED;
      if (cause != null && !(cause instanceof AskTimeoutException)) throw new AssertionError(cause);
      return cause != null || clock.nanoTime() - call.sentAt > LIMIT.toNanos() ? End.GAVE_UP : End.GOOD;
    }

    private List<Outcome> copyOfOutcomes() {
      synchronized (outcomes) {
        return List.copyOf(outcomes);
      }
    }

    private List<Outcome> outcomesWith(Span span, End end) {
      return copyOfOutcomes().stream().filter(o -> span.contains(o.endedAt()) && o.end() == end).toList();
    }

    /** Returns the share of the requests sent in the span that were answered within the limit. */
    double answeredShare(Span span) {
      var requests = copyOfOutcomes().stream().filter(o -> span.contains(o.sentAt())).toList();
      return (double) requests.stream().filter(o -> o.end() == End.GOOD).count() / requests.size();
    }

    /** Returns how many answers per second came within the limit. */
    double goodput(Span span) {
      return outcomesWith(span, End.GOOD).size() / span.seconds();
    }

    /**
     * Returns how many answers per second the workers allow, given the mean work of the requests
     * that were answered within the limit.
     */
    double capacity(Span span) {
      return WORKERS * 1e9 / outcomesWith(span, End.GOOD).stream().mapToLong(Outcome::work).average().orElseThrow();
    }

    /** Returns the longest duration of the requests with this end, in seconds. */
    double maxSeconds(Span span, End end) {
      return outcomesWith(span, end).stream().mapToLong(Outcome::duration).max().orElse(0) / 1e9;
    }
  }

  private final long seed = Long.getLong("fibry.seed", 1);
  private final SplittableRandom random = new SplittableRandom(seed);
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("overload", o -> o.withScheduler(clock));

  private final Service boundedService = new Service(Mailbox.bounded(MAILBOX_CAPACITY, Overflow.REJECT), true);
  private final Service timedService =
      new Service(Mailbox.bounded(1_000, Overflow.REJECT).withMaxWait(Duration.ofMillis(100)), true);
  private final Service unboundedService = new Service(Mailbox.unbounded(), false);

  private Span lowLoad;
  private Span highLoad; // without its first half second
  private Span recovery; // without its first second

  @BeforeAll
  void ramp() {
    System.out.println("overload: -Dfibry.seed=" + seed);
    lowLoad = load(0.5, 1);
    load(1, 1);
    highLoad = load(3, 3).withoutFirst(0.5);
    recovery = load(0.8, 3).withoutFirst(1);
    moveTo(clock.nanoTime() + Duration.ofMinutes(1).toNanos()); // time for the last answers
    for (var service : List.of(boundedService, timedService, unboundedService))
      System.out.printf("%.0f/s of %.0f/s, then %.0f/s; longest %.3f s; refused in %.6f s; %d steps in vain%n",
          service.goodput(highLoad), service.capacity(highLoad), service.goodput(recovery),
          service.maxSeconds(highLoad, End.GOOD), service.maxSeconds(highLoad, End.REFUSED), service.wastedSteps.get());
  }

  /**
   * Sends requests at random times, each of them to all services. Returns the time span in which it
   * sent them.
   */
  private Span load(double loadFactor, double seconds) {
    long start = clock.nanoTime();
    long end = start + (long) (seconds * 1e9);
    for (double time = start; (time += -Math.log(1 - random.nextDouble()) / (loadFactor * CAPACITY) * 1e9) < end;) {
      moveTo((long) time);
      long work = STEPS * TimeUnit.MICROSECONDS.toNanos(random.nextLong(5_000, 15_000));
      for (var service : List.of(boundedService, timedService, unboundedService)) service.ask(work);
    }
    moveTo(end);
    return new Span(start, end);
  }

  /**
   * Advances the clock to the time, from timer to timer. Before each advance, the method waits
   * until all actors are quiet.
   */
  private void moveTo(long time) {
    for (;;) {
      assertTrue(scope.awaitQuiescence(Patience.LONG), scope::dump);
      long remaining = time - clock.nanoTime();
      long nanosToNextTimer = clock.untilNext().map(Duration::toNanos).orElse(remaining);
      if (remaining <= 0) return;
      clock.advance(Duration.ofNanos(Math.min(remaining, nanosToNextTimer)));
    }
  }

  @AfterAll
  void close() {
    scope.close();
  }

  private List<Service> boundedServices() {
    return List.of(boundedService, timedService);
  }

  @Test
  void servicesAnswerNearlyAllRequestsAtLowLoad() {
    for (var service : List.of(boundedService, timedService, unboundedService))
      assertTrue(service.answeredShare(lowLoad) >= 0.95, () -> service.answeredShare(lowLoad) + " of 1");
  }

  @Promise("24.5")
  @Test
  void boundedServiceKeepsGoodputAtTripleLoad() {
    for (var service : boundedServices()) assertTrue(service.goodput(highLoad) >= 0.95 * service.capacity(highLoad),
        () -> service.goodput(highLoad) + " of " + service.capacity(highLoad));
  }

  /** A refusal must come before the clock advances, so a refused request has a duration of zero. */
  @Test
  void refusedClientsAreNotifiedAtOnce() {
    for (var service : boundedServices()) {
      assertTrue(service.outcomesWith(highLoad, End.REFUSED).size() > 100);
      assertEquals(0, service.maxSeconds(highLoad, End.REFUSED));
    }
  }

  @Test
  void admittedRequestsWaitAtMostHandlingTimeOfFullMailbox() {
    double secondsPerRequest = STEPS * 0.015 / WORKERS; // if each step takes the longest possible time

    double maxSeconds = boundedService.maxSeconds(highLoad, End.GOOD);

    assertTrue(maxSeconds <= (MAILBOX_CAPACITY + WORKERS) * secondsPerRequest + STEPS * 0.015, () -> maxSeconds + " s");
  }

  @Test
  void admittedRequestsWaitNoLongerThanMaxWait() {
    double maxSeconds = timedService.maxSeconds(highLoad, End.GOOD);

    assertTrue(maxSeconds <= LIMIT.toMillis() / 2e3, () -> maxSeconds + " s");
  }

  @Test
  void noStepIsPerformedAfterItsClientGaveUp() {
    for (var service : boundedServices()) assertEquals(0, service.wastedSteps.get());
  }

  @Promise("24.5")
  @Test
  void servicesRecoverWithinSecondAfterLoadFalls() {
    for (var service : boundedServices())
      assertTrue(service.answeredShare(recovery) >= 0.9, () -> service.answeredShare(recovery) + " of 1");
  }

  @Test
  void unboundedServiceStaysSlowAfterOverload() {
    assertTrue(unboundedService.goodput(highLoad) < 0.3 * boundedService.goodput(highLoad));
    assertTrue(unboundedService.goodput(recovery) < 0.3 * boundedService.goodput(recovery));
    assertTrue(unboundedService.wastedSteps.get() > 0);
  }
}
