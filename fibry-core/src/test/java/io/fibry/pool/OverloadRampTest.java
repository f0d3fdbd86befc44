package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.LoadGenerator.Call;
import io.fibry.pool.LoadGenerator.End;
import io.fibry.pool.LoadGenerator.Side;
import io.fibry.pool.LoadGenerator.Span;
import io.fibry.support.Soak;
import io.fibry.testing.Promise;
import io.fibry.testing.StressRuns;
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
 * Tests three services under the same load, in real time. The load is first half of their capacity,
 * then their whole capacity, then three times as much, and finally less than the capacity. All
 * tests check one such ramp.
 */
@Soak(counterpart = "OverloadTest")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OverloadRampTest {
  private static final Duration LIMIT = Duration.ofNanos(LoadGenerator.PATIENCE);
  private static final int MAILBOX_CAPACITY = 16;
  private static final int DURATION_FACTOR = 10;
  private static final double MIN_GOOD_SHARE = 0.9;
  private static final int LATE_PERCENTILE = 95;

  private final long seed = StressRuns.seed();
  private final ActorScope scope = ActorSystem.openScope("overload");
  private final ExecutorService perRequest = Executors.newVirtualThreadPerTaskExecutor();
  private final Semaphore resources = new Semaphore(LoadGenerator.RESOURCES, true);

  private final Side boundedSide = newPoolSide(Mailbox.bounded(MAILBOX_CAPACITY, Overflow.REJECT));
  private final Side timedSide =
      newPoolSide(Mailbox.bounded(1_000, Overflow.REJECT).withMaxWait(Duration.ofMillis(100)));
  private final Side unboundedSide = new Side(this::serveOnNewThread);

  private Span lowLoad;
  private Span highLoad; // without its first half second
  private Span recovery; // without its first second

  /** Returns a service that is a pool with one worker per resource. */
  private Side newPoolSide(Mailbox<Object> mailbox) {
    ActorWithReturn<Call, Boolean> pool =
        Pools.fixed(scope.anonymous().mailbox(mailbox), LoadGenerator.RESOURCES).newActorWithReturn((Call call) -> {
          call.steps();
          return true;
        });
    return new Side(call -> pool.ask(call, LIMIT));
  }

  /** Starts a thread per request, which performs all steps even if its client has given up. */
  private void serveOnNewThread(Call call) throws Exception {
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
    var generator = new LoadGenerator(seed, boundedSide, timedSide, unboundedSide);
    double capacity = generator.capacity(0.5 * DURATION_FACTOR);
    lowLoad = generator.load(0.5 * capacity, 0.7 * DURATION_FACTOR);
    generator.load(capacity, 0.7 * DURATION_FACTOR);
    highLoad = generator.load(3 * capacity, 2 * DURATION_FACTOR).withoutFirst(0.5);
    recovery = generator.load(0.8 * capacity, 2 * DURATION_FACTOR).withoutFirst(1);
    generator.close();
    perRequest.shutdownNow();
    System.out.printf(
        "capacity %.0f/s; at three times as much: bounded %s; within %s; unbounded %s; after: %.0f, %.0f, %.0f/s%n",
        capacity, describe(boundedSide), describe(timedSide), describe(unboundedSide), boundedSide.goodput(recovery),
        timedSide.goodput(recovery), unboundedSide.goodput(recovery));
  }

  private String describe(Side side) {
    return "%.0f/s, p99 %.0f ms, refused in %.3f ms, %d steps in vain".formatted(side.goodput(highLoad),
        side.percentile(99, highLoad, End.GOOD) / 1e6, side.percentile(99, highLoad, End.REFUSED) / 1e6,
        side.wastedSteps.sum());
  }

  @AfterAll
  void close() {
    scope.close();
  }

  private List<Side> boundedSides() {
    return List.of(boundedSide, timedSide);
  }

  private static long count(Side side, Span span, End end) {
    return side.outcomesSentIn(span).stream().filter(o -> o.end() == end).count();
  }

  @Test
  void allServicesAnswerBelowCapacity() {
    for (var side : List.of(boundedSide, timedSide, unboundedSide))
      assertTrue(count(side, lowLoad, End.GOOD) >= MIN_GOOD_SHARE * side.outcomesSentIn(lowLoad).size());
  }

  @Promise("24.5")
  @Test
  void boundedPoolKeepsGoodputAtTripleLoad() {
    for (var side : boundedSides()) assertTrue(side.goodput(highLoad) >= 0.9 * side.capacity(highLoad),
        () -> side.goodput(highLoad) + " of " + side.capacity(highLoad));
  }

  @Test
  void refusedClientIsNotifiedWithinMillisecond() {
    for (var side : boundedSides()) assertTrue(side.percentile(99, highLoad, End.REFUSED) < 1_000_000,
        () -> side.percentile(99, highLoad, End.REFUSED) + " ns");
  }

  @Test
  void admittedRequestWaitsAtMostHandlingTimeOfFullMailbox() {
    double answersPerSecond = boundedSide.capacity(highLoad);
    double waitSeconds = boundedSide.percentile(LATE_PERCENTILE, highLoad, End.GOOD) / 1e9;

    assertTrue(waitSeconds <= MAILBOX_CAPACITY / answersPerSecond + 3 * LoadGenerator.RESOURCES / answersPerSecond,
        () -> waitSeconds + " s, at " + answersPerSecond + "/s");
  }

  @Test
  void admittedRequestWaitsNoLongerThanMaxWait() {
    assertTrue(timedSide.percentile(LATE_PERCENTILE, highLoad, End.GOOD) <= LoadGenerator.PATIENCE / 2);
  }

  @Test
  void noWorkIsDoneForClientsThatGaveUp() {
    for (var side : boundedSides()) assertEquals(0, side.wastedSteps.sum());
  }

  @Promise("24.5")
  @Test
  void poolsRecoverWithinSecondAfterLoadFalls() {
    for (var side : boundedSides()) assertTrue(
        count(side, recovery, End.GOOD) >= MIN_GOOD_SHARE * side.outcomesSentIn(recovery).size(),
        () -> count(side, recovery, End.GOOD) + " of " + side.outcomesSentIn(recovery).size());
  }

  @Test
  void unboundedServiceStaysSlowAfterOverload() {
    assertTrue(unboundedSide.goodput(highLoad) < 0.3 * boundedSide.goodput(highLoad));
    assertTrue(unboundedSide.goodput(recovery) < 0.3 * boundedSide.goodput(recovery));
    assertTrue(unboundedSide.wastedSteps.sum() > 0);
  }
}
