package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.Promise;
import io.fibry.StressHarness;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.LoadGenerator.Call;
import io.fibry.pool.LoadGenerator.End;
import io.fibry.pool.LoadGenerator.Side;
import io.fibry.pool.LoadGenerator.Span;
import io.fibry.support.Soak;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Three services under the same load: half their capacity, all of it, three times as much, and less
 * again. All tests check one ramp, in real time.
 */
@Soak(counterpart = "OverloadTest")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OverloadRampTest {
  private static final Duration LIMIT = Duration.ofNanos(LoadGenerator.PATIENCE);
  private static final int ROOM = 16;
  private static final int LONGER = 10;
  private static final double MOST = 0.9;
  private static final int SLOWEST = 95; // percentile

  private final long seed = StressHarness.seed();
  private final ActorScope scope = ActorSystem.openScope("overload");
  private final ExecutorService perRequest = Executors.newVirtualThreadPerTaskExecutor();
  private final Semaphore resources = new Semaphore(LoadGenerator.RESOURCES, true);

  private final Side bounded = asked(Mailbox.bounded(ROOM, Overflow.REJECT));
  private final Side timely = asked(Mailbox.bounded(1_000, Overflow.REJECT).withMaxWait(Duration.ofMillis(100)));
  private final Side unbounded = new Side(this::onThreadOfItsOwn);

  private Span low;
  private Span high; // without its start
  private Span after; // without its first second

  /** A pool with a worker per resource. */
  private Side asked(Mailbox<Object> mailbox) {
    ActorWithReturn<Call, Boolean> pool =
        Pools.fixed(scope.anonymous().mailbox(mailbox), LoadGenerator.RESOURCES).newActorWithReturn((Call call) -> {
          call.steps();
          return true;
        });
    return new Side(call -> pool.ask(call, LIMIT));
  }

  /** A thread per request, which waits for a resource at each step, even if its client gave up. */
  private void onThreadOfItsOwn(Call call) throws Exception {
    var answer = new CompletableFuture<Boolean>();
    perRequest.submit(() -> {
      for (int i = 0; i < 3; i++) {
        resources.acquire();
        try {
          call.step();
        } finally {
          resources.release();
        }
      }
      return answer.complete(true);
    });
    answer.get(LoadGenerator.PATIENCE, TimeUnit.NANOSECONDS);
  }

  @BeforeAll
  void ramp() throws Exception {
    System.out.println("overload: -Dfibry.seed=" + seed);
    var generator = new LoadGenerator(seed, bounded, timely, unbounded);
    double capacity = generator.capacity(0.5 * LONGER);
    low = generator.load(0.5 * capacity, 0.7 * LONGER);
    generator.load(capacity, 0.7 * LONGER);
    high = generator.load(3 * capacity, 2 * LONGER).after(0.5);
    after = generator.load(0.8 * capacity, 2 * LONGER).after(1);
    generator.close();
    perRequest.shutdownNow();
    System.out.printf(
        "capacity %.0f/s; at three times as much: bounded %s; within %s; unbounded %s; after: %.0f, %.0f, %.0f/s%n",
        capacity, told(bounded), told(timely), told(unbounded), bounded.goodput(after),
        timely.goodput(after), unbounded.goodput(after));
  }

  private String told(Side side) {
    return "%.0f/s, p99 %.0f ms, refused in %.3f ms, %d steps in vain".formatted(side.goodput(high),
        side.percentile(99, high, End.GOOD) / 1e6, side.percentile(99, high, End.REFUSED) / 1e6, side.wasted.sum());
  }

  @AfterAll
  void close() {
    scope.close();
  }

  private List<Side> guarded() {
    return List.of(bounded, timely);
  }

  private static long count(Side side, Span sent, End end) {
    return side.sent(sent).stream().filter(o -> o.end() == end).count();
  }

  @Test
  void allPoolsDoWellBelowCapacity() {
    for (var side : List.of(bounded, timely, unbounded))
      assertTrue(count(side, low, End.GOOD) >= MOST * side.sent(low).size());
  }

  @Promise("24.5")
  @Test
  void poolThatRefusesKeepsGoodputAtTripleLoad() {
    for (var side : guarded()) assertTrue(side.goodput(high) >= 0.9 * side.capacity(high),
        () -> side.goodput(high) + " of " + side.capacity(high));
  }

  @Test
  void refusedClientIsToldWithinMillisecond() {
    for (var side : guarded()) assertTrue(side.percentile(99, high, End.REFUSED) < 1_000_000,
        () -> side.percentile(99, high, End.REFUSED) + " ns");
  }

  @Test
  void admittedRequestWaitsNoLongerThanFullMailboxTakes() {
    double handled = bounded.capacity(high);
    double waited = bounded.percentile(SLOWEST, high, End.GOOD) / 1e9;

    assertTrue(waited <= ROOM / handled + 3 * LoadGenerator.RESOURCES / handled,
        () -> waited + " s, at " + handled + "/s");
  }

  @Test
  void admittedRequestWaitsNoLongerThanMaxWait() {
    assertTrue(timely.percentile(SLOWEST, high, End.GOOD) <= LoadGenerator.PATIENCE / 2);
  }

  @Test
  void workIsNotDoneForClientsThatHaveGone() {
    for (var side : guarded()) assertEquals(0, side.wasted.sum());
  }

  @Promise("24.5")
  @Test
  void poolsRecoverWithinSecondAfterLoadFalls() {
    for (var side : guarded()) assertTrue(count(side, after, End.GOOD) >= MOST * side.sent(after).size(),
        () -> count(side, after, End.GOOD) + " of " + side.sent(after).size());
  }

  @Test
  void unboundedPoolCollapsesAndDoesNotRecover() {
    assertTrue(unbounded.goodput(high) < 0.3 * bounded.goodput(high));
    assertTrue(unbounded.goodput(after) < 0.3 * bounded.goodput(after));
    assertTrue(unbounded.wasted.sum() > 0);
  }
}
