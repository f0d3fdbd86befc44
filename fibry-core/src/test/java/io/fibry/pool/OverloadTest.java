package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.AskTimeoutException;
import io.fibry.MailboxFullException;
import io.fibry.Promise;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.LoadGenerator.End;
import io.fibry.pool.LoadGenerator.Outcome;
import io.fibry.pool.LoadGenerator.Span;
import io.fibry.support.Patience;
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
 * Three services under the same load, in time that this test moves: half their capacity, all of it,
 * three times as much, and less again. All tests check one ramp. Between two moments of the clock
 * all actors come to rest, so each outcome depends on the seed alone.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OverloadTest {
  private static final int WORKERS = 4;
  private static final int ROOM = 16;
  private static final int STEPS = 3; // of a request; each takes 5 to 15 ms
  private static final double CAPACITY = WORKERS / (STEPS * 0.010); // requests per second
  private static final Duration LIMIT = Duration.ofMillis(500); // then a client gives up

  private final class Call {
    final Service service;
    final long sent = clock.nanoTime();
    final long work;

    Call(Service service, long work) {
      this.service = service;
      this.work = work;
    }

    /** The steps of its work. */
    boolean handle() throws InterruptedException {
      for (int i = 0; i < STEPS; i++) {
        if (clock.nanoTime() - sent > LIMIT.toNanos()) service.stepsInVain.incrementAndGet();
        clock.sleepUntil(clock.nanoTime() + work / STEPS);
      }
      return true;
    }
  }

  private final class Service {
    private final ActorWithReturn<Call, Boolean> pool;
    private final boolean limited; // its clients say how long they wait
    private final List<Outcome> outcomes = new ArrayList<>(); // guarded by itself
    final AtomicInteger stepsInVain = new AtomicInteger(); // after their client gave up

    Service(Mailbox<Object> mailbox, boolean limited) {
      this.pool = Pools.fixed(scope.anonymous().mailbox(mailbox), WORKERS).newActorWithReturn(Call::handle);
      this.limited = limited;
    }

    void ask(long work) {
      var call = new Call(this, work);
      var answer = limited ? pool.sendMessageReturn(call, LIMIT) : pool.sendMessageReturn(call);
      answer.whenComplete((good, failure) -> {
        var end = end(call, failure);
        synchronized (outcomes) {
          outcomes.add(new Outcome(call.sent, clock.nanoTime(), end, end == End.GOOD ? call.work : 0));
        }
      });
    }

    private End end(Call call, Throwable failure) {
      var cause = failure instanceof CompletionException wrapped ? wrapped.getCause() : failure;
      if (cause instanceof MailboxFullException) return End.REFUSED;
      if (cause != null && !(cause instanceof AskTimeoutException)) throw new AssertionError(cause);
      return cause != null || clock.nanoTime() - call.sent > LIMIT.toNanos() ? End.GAVE_UP : End.GOOD;
    }

    private List<Outcome> all() {
      synchronized (outcomes) {
        return List.copyOf(outcomes);
      }
    }

    private List<Outcome> ended(Span span, End end) {
      return all().stream().filter(o -> span.has(o.ended()) && o.end() == end).toList();
    }

    /** The share of the requests sent in this time that were answered in time. */
    double answered(Span span) {
      var sent = all().stream().filter(o -> span.has(o.sent())).toList();
      return (double) sent.stream().filter(o -> o.end() == End.GOOD).count() / sent.size();
    }

    /** Answers in time, per second. */
    double goodput(Span span) {
      return ended(span, End.GOOD).size() / span.seconds();
    }

    /** Possible answers per second, by the work of those in time. */
    double capacity(Span span) {
      return WORKERS * 1e9 / ended(span, End.GOOD).stream().mapToLong(Outcome::work).average().orElseThrow();
    }

    /** The longest time until requests ended so, in seconds. */
    double longest(Span span, End end) {
      return ended(span, end).stream().mapToLong(Outcome::took).max().orElse(0) / 1e9;
    }
  }

  private final long seed = Long.getLong("fibry.seed", 1);
  private final SplittableRandom random = new SplittableRandom(seed);
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("overload", o -> o.withScheduler(clock));

  private final Service bounded = new Service(Mailbox.bounded(ROOM, Overflow.REJECT), true);
  private final Service timely =
      new Service(Mailbox.bounded(1_000, Overflow.REJECT).withMaxWait(Duration.ofMillis(100)), true);
  private final Service unbounded = new Service(Mailbox.unbounded(), false);

  private Span low;
  private Span high; // without its start
  private Span after; // without its first second

  @BeforeAll
  void ramp() {
    System.out.println("overload: -Dfibry.seed=" + seed);
    low = load(0.5, 1);
    load(1, 1);
    high = load(3, 3).after(0.5);
    after = load(0.8, 3).after(1);
    moveTo(clock.nanoTime() + Duration.ofMinutes(1).toNanos()); // the last answers
    for (var service : List.of(bounded, timely, unbounded))
      System.out.printf("%.0f/s of %.0f/s, then %.0f/s; longest %.3f s; refused in %.6f s; %d steps in vain%n",
          service.goodput(high), service.capacity(high), service.goodput(after), service.longest(high, End.GOOD),
          service.longest(high, End.REFUSED), service.stepsInVain.get());
  }

  /** Requests at random times, to all services at once. */
  private Span load(double ofCapacity, double seconds) {
    long from = clock.nanoTime();
    long to = from + (long) (seconds * 1e9);
    for (double at = from; (at += -Math.log(1 - random.nextDouble()) / (ofCapacity * CAPACITY) * 1e9) < to;) {
      moveTo((long) at);
      long work = STEPS * TimeUnit.MICROSECONDS.toNanos(random.nextLong(5_000, 15_000));
      for (var service : List.of(bounded, timely, unbounded)) service.ask(work);
    }
    moveTo(to);
    return new Span(from, to);
  }

  /**
   * Moves from one moment at which something happens to the next; at each, all actors come to rest.
   */
  private void moveTo(long time) {
    for (;;) {
      assertTrue(scope.awaitQuiescence(Patience.LONG), scope::dump);
      long left = time - clock.nanoTime();
      long next = clock.untilNext().map(Duration::toNanos).orElse(left);
      if (left <= 0) return;
      clock.advance(Duration.ofNanos(Math.min(left, next)));
    }
  }

  @AfterAll
  void close() {
    scope.close();
  }

  private List<Service> guarded() {
    return List.of(bounded, timely);
  }

  @Test
  void allThreeAnswerBelowTheirCapacity() {
    for (var service : List.of(bounded, timely, unbounded))
      assertTrue(service.answered(low) >= 0.95, () -> service.answered(low) + " of 1");
  }

  @Promise("24.5")
  @Test
  void serviceThatRefusesKeepsGoodputAtTripleLoad() {
    for (var service : guarded()) assertTrue(service.goodput(high) >= 0.95 * service.capacity(high),
        () -> service.goodput(high) + " of " + service.capacity(high));
  }

  /** At the moment when they send. */
  @Test
  void clientsThatAreRefusedAreToldAtOnce() {
    for (var service : guarded()) {
      assertTrue(service.ended(high, End.REFUSED).size() > 100);
      assertEquals(0, service.longest(high, End.REFUSED));
    }
  }

  @Test
  void requestsThatGetInWaitNoLongerThanTheRoomIsLong() {
    double each = STEPS * 0.015 / WORKERS; // seconds of the slowest work

    double longest = bounded.longest(high, End.GOOD);

    assertTrue(longest <= (ROOM + WORKERS) * each + STEPS * 0.015, () -> longest + " s");
  }

  @Test
  void requestsThatGetInWaitNoLongerThanTheMailboxAllows() {
    double longest = timely.longest(high, End.GOOD);

    assertTrue(longest <= LIMIT.toMillis() / 2e3, () -> longest + " s");
  }

  @Test
  void noStepIsDoneForAClientThatHasGone() {
    for (var service : guarded()) assertEquals(0, service.stepsInVain.get());
  }

  @Promise("24.5")
  @Test
  void allIsWellWithinASecondAfterTheLoadHasFallen() {
    for (var service : guarded())
      assertTrue(service.answered(after) >= 0.9, () -> service.answered(after) + " of 1");
  }

  @Test
  void aServiceWithoutABoundCollapsesAndDoesNotRecover() {
    assertTrue(unbounded.goodput(high) < 0.3 * bounded.goodput(high));
    assertTrue(unbounded.goodput(after) < 0.3 * bounded.goodput(after));
    assertTrue(unbounded.stepsInVain.get() > 0);
  }
}
