package io.fibry.flow;

import static io.fibry.flow.NullAssertion.assertNullRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.spi.BlockBuilder;
import io.fibry.spi.PoolSpec;
import io.fibry.support.Patience;
import io.fibry.testing.Clock;
import io.fibry.testing.LeakProbe;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
import io.fibry.time.Scheduler;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class RateLimitTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  /** A manual clock that records its pending timers. */
  static final class RecordingClock extends Clock {
    final Set<PendingTimer> pendingTimers = ConcurrentHashMap.newKeySet();

    @Override
    public Timer schedule(Duration delay, Runnable task) {
      var pending = new PendingTimer(nanoTime() + delay.toNanos());
      pendingTimers.add(pending);
      var timer = super.schedule(delay, () -> {
        pendingTimers.remove(pending);
        task.run();
      });
      return () -> {
        pendingTimers.remove(pending);
        return timer.cancel();
      };
    }
  }

  /** A timer. This class is no record, because two timers that are due at the same time differ. */
  static final class PendingTimer {
    private final long dueTime; // ns of the clock

    private PendingTimer(long dueTime) {
      this.dueTime = dueTime;
    }
  }

  private final RecordingClock clock = new RecordingClock();
  private final RecordedLetters letters = new RecordedLetters();
  private final ActorScope scope =
      ActorSystem.openScope("rates", o -> o.withScheduler(clock).withDeadLetterListener(letters));
  // when each message passed the limit, in milliseconds
  private final List<Long> times = Collections.synchronizedList(new ArrayList<>());

  static List<String> strategies() {
    return Variants.STRATEGIES.keySet().stream().filter(name -> !name.equals("CALLER")).toList();
  }

  @AfterEach
  void close() {
    scope.closeWithin(Duration.ZERO);
  }

  private void recordTime(Object message) {
    times.add(clock.nanoTime() / 1_000_000);
  }

  @Test
  void tokensReservedByKilledActorsGoToLaterMessages() {
    var builder = RateLimit.around(scope.anonymous(), 1, SECOND);
    Actor<String> limitedActor = builder.newActor(this::recordTime);
    limitedActor.sendMessage("first");
    advanceUntilPassed(1);
    var killedActors = new ArrayList<Actor<String>>();
    for (int i = 0; i < 10; i++) {
      int waiterCount = i + 1;
      Actor<String> actor = builder.newActor(this::recordTime);
      actor.sendMessage("killed");
      Patience.eventually(() -> clock.pendingTimers.size() == waiterCount);
      killedActors.add(actor);
    }
    killedActors.forEach(Actor::kill);
    killedActors.forEach(actor -> Patience.awaitEnd(actor::waitForExit));
    Patience.eventually(clock.pendingTimers::isEmpty); // also the timers that end the grace of a kill

    limitedActor.sendMessage("later");
    advanceUntilPassed(2);
    // nine times that killed actors had reserved have passed: together they must yield one token,
    // not nine
    clock.manual.advance(SECOND.multipliedBy(20));
    for (int i = 0; i < 2; i++) limitedActor.sendMessage("later");
    advanceUntilPassed(4);

    assertEquals(List.of(0L, 1_000L, 21_000L, 22_000L), times);
  }

  /**
   * Advances the clock from the end of one wait to the end of the next, until this many messages
   * have passed the limit.
   */
  private void advanceUntilPassed(int messages) {
    while (times.size() < messages) {
      Patience.eventually(() -> nanosToNextWait() > 0 || times.size() >= messages);
      clock.manual.advance(Duration.ofNanos(nanosToNextWait()));
    }
  }

  /** Returns the nanoseconds until the next wait ends, or 0 if no message waits. */
  private long nanosToNextWait() {
    long now = clock.nanoTime();
    return clock.pendingTimers.stream().mapToLong(timer -> timer.dueTime - now).filter(nanos -> nanos > 0).min()
        .orElse(0);
  }

  // ---- the rate

  @ParameterizedTest
  @MethodSource("strategies")
  void burstPassesAtOnceAndLaterMessagesAreSpread(String strategy) {
    var actor =
        RateLimit.around(scope.anonymous().strategy(Variants.STRATEGIES.get(strategy)), 4, SECOND)
            .newActor(this::recordTime);

    for (int i = 0; i < 9; i++) actor.sendMessage(i);
    advanceUntilPassed(9);

    assertEquals(List.of(0L, 0L, 0L, 0L, 250L, 500L, 750L, 1_000L, 1_250L), times);
  }

  @Test
  void senderOnCallerStrategyWaitsForToken() {
    var actor = RateLimit.around(scope.anonymous().strategy(Strategy.CALLER), 1, SECOND).newActor(this::recordTime);
    actor.sendMessage("at once");
    assertEquals(List.of(0L), times);

    var sender = Patience.startFiber(() -> actor.sendMessage("later"));
    Patience.awaitParked(sender);
    advanceUntilPassed(2);
    Patience.awaitEnd(sender);

    assertEquals(List.of(0L, 1_000L), times);
  }

  @Promise("22.12")
  @ParameterizedTest
  @CsvSource({"3, 1000", "7, 1000", "1000, 1001"})
  void rateDoesNotDrift(int messages, int period) {
    var bucket = new TokenBucket(clock, messages, Duration.ofNanos(period));
    int laterMessages = 3 * messages;

    Patience.startFiber(() -> takeTokens(bucket, messages + laterMessages));
    advanceUntilPassed(messages + laterMessages);

    assertEquals(3L * period, clock.nanoTime());
  }

  private void takeTokens(TokenBucket bucket, int tokens) {
    try {
      for (int i = 0; i < tokens; i++) {
        bucket.awaitToken();
        this.times.add(clock.nanoTime());
      }
    } catch (InterruptedException interrupted) {
      // a test interrupts the waiting threads at its end
    }
  }

  @Promise("22.12")
  @Test
  void longPauseAllowsNoMoreThanOneBurst() {
    var actor = RateLimit.around(scope.anonymous(), 2, SECOND).newActor(this::recordTime);
    for (int i = 0; i < 2; i++) actor.sendMessage(i);
    Patience.eventually(() -> times.size() == 2);
    clock.manual.advance(Duration.ofHours(1));

    for (int i = 0; i < 3; i++) actor.sendMessage(i);
    advanceUntilPassed(5);

    assertEquals(List.of(0L, 0L, 3_600_000L, 3_600_000L, 3_600_500L), times);
  }

  @Test
  void tokensRegainedDuringPauseCanBeUsed() {
    var actor = RateLimit.around(scope.anonymous(), 4, SECOND).newActor(this::recordTime);
    for (int i = 0; i < 4; i++) actor.sendMessage(i);
    Patience.eventually(() -> times.size() == 4);
    clock.manual.advance(Duration.ofMillis(600));

    for (int i = 0; i < 3; i++) actor.sendMessage(i);
    advanceUntilPassed(7);

    assertEquals(List.of(0L, 0L, 0L, 0L, 600L, 600L, 750L), times);
  }

  @Test
  void actorsOfOneBuilderPassRateLimitInOrderOfArrival() {
    var order = new CopyOnWriteArrayList<Integer>();
    ActorBuilder<Object> builder = RateLimit.around(scope.anonymous(), 1, SECOND);
    var actors = IntStream.range(0, 5).mapToObj(i -> builder.newActor((String message) -> order.add(i))).toList();

    for (int i = 0; i < 5; i++) {
      int waiterCount = i;
      actors.get(i).sendMessage("go");
      Patience.eventually(() -> order.size() == 1 && clock.pendingTimers.size() == waiterCount);
    }
    for (int i = 1; i < 5; i++) {
      int passedCount = i + 1;
      clock.manual.advance(SECOND);
      Patience.eventually(() -> order.size() == passedCount);
    }

    assertEquals(List.of(0, 1, 2, 3, 4), order);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void workersOfAPoolShareTheLimit(boolean limitFirst) {
    var threeWorkers = PoolSpec.scaling(3, 3);
    var builder = limitFirst ? BlockBuilder.of(RateLimit.around(scope.anonymous(), 2, SECOND)).pooled(threeWorkers)
        : RateLimit.around(BlockBuilder.of(scope.anonymous()).pooled(threeWorkers), 2, SECOND);
    var pool = builder.newActor(this::recordTime);

    for (int i = 0; i < 5; i++) pool.sendMessage(i);
    for (int remaining = 3; remaining >= 0; remaining--) {
      int waiterCount = remaining;
      Patience.eventually(() -> times.size() == 5 - waiterCount && clock.pendingTimers.size() == waiterCount);
      clock.manual.advance(Duration.ofNanos(nanosToNextWait()));
    }

    assertEquals(List.of(0L, 0L, 500L, 1_000L, 1_500L), times);
  }

  @Test
  void twoBuildersHaveSeparateLimits() {
    for (int i = 0; i < 2; i++)
      RateLimit.around(scope.anonymous(), 1, SECOND).newActor(this::recordTime).sendMessage(i);

    Patience.eventually(() -> times.size() == 2);

    assertEquals(List.of(0L, 0L), times);
  }

  @Test
  void limitedBuilderKeepsNameStateAndStrategy() {
    var builder = RateLimit.around(scope.named("geo").strategy(Strategy.CALLER), 3, SECOND);
    var appender = builder.initialState(StringBuilder::new)
        .newActorWithReturn((StringBuilder text, String message) -> text.append(message).toString());

    assertEquals("geo", appender.name());
    assertEquals("a", appender.ask("a"));
    assertEquals("ab", appender.ask("b"));
    assertEquals(Strategy.CALLER, BlockBuilder.of(builder).strategy());
  }

  @Test
  void failedMessageAndItsRetryEachTakeToken() {
    var actor =
        RateLimit.around(scope.anonymous().onFailure(FailurePolicy.resume().withRetries(1).withoutLog()), 1, SECOND)
            .newActor((String message) -> {
              recordTime(message);
              throw new IOException("no");
            });

    actor.sendMessage("a");
    actor.sendMessage("b");
    advanceUntilPassed(4);

    assertEquals(List.of(0L, 1_000L, 2_000L, 3_000L), times);
  }

  // ---- at the edges

  @Test
  void waitersGetNoTokenWhenPeriodIsMaxDuration() throws Exception {
    var bucket = new TokenBucket(clock, 1, Duration.ofSeconds(Long.MAX_VALUE));
    bucket.awaitToken();

    var waiters = IntStream.range(0, 8).mapToObj(i -> Patience.startFiber(() -> takeTokens(bucket, 1))).toList();
    waiters.forEach(Patience::awaitParked);
    clock.manual.advance(Duration.ofDays(10_000));

    assertEquals(List.of(), times);
    waiters.forEach(Thread::interrupt);
  }

  @Test
  void rateAboveClockResolutionLetsAllMessagesPass() throws Exception {
    var bucket = new TokenBucket(clock, Integer.MAX_VALUE, Duration.ofNanos(1));

    for (int i = 0; i < 100_000; i++) bucket.awaitToken();

    assertEquals(Set.of(), clock.pendingTimers);
  }

  @Test
  void tokenIsReadyOnTimeIfClockMovesBeforeTimerIsSet() throws Exception {
    var movingClock = new Clock() {
      @Override
      public Scheduler.Timer schedule(Duration delay, Runnable task) {
        manual.advance(delay);
        return super.schedule(delay, task);
      }
    };
    var bucket = new TokenBucket(movingClock, 1, SECOND);

    for (int i = 0; i < 3; i++) bucket.awaitToken();

    assertEquals(2_000_000_000L, movingClock.nanoTime());
  }

  @Test
  void zeroRatesAndNullArgumentsAreRefused() {
    var builder = scope.anonymous();

    var noMessages = assertThrows(IllegalArgumentException.class, () -> RateLimit.around(builder, 0, SECOND));
    var noPeriod = assertThrows(IllegalArgumentException.class, () -> RateLimit.around(builder, 5, Duration.ZERO));

    assertEquals("a rate of 0 messages in 1 s would let none through; give at least 1", noMessages.getMessage());
    assertEquals("a rate of 5 messages in 0 s is undefined; give a period of more than zero", noPeriod.getMessage());
    assertNullRefused("builder", () -> RateLimit.around(null, 1, SECOND));
    assertNullRefused("period", () -> RateLimit.around(builder, 1, null));
  }

  @Test
  void unreferencedLimitedActorIsGarbage() {
    var actor =
        new AtomicReference<>(RateLimit.around(ActorSystem.anonymous(), 1, SECOND).newActor((String message) -> {}));
    actor.get().sendMessage("a");
    var reference = new WeakReference<Object>(actor.getAndSet(null));

    assertTrue(LeakProbe.collected(reference));
  }

  /** Uses the system's clock, so the measured times are real. */
  @Test
  void manyActorsTogetherNeverExceedTheRate() {
    try (var realTimeScope = ActorSystem.openScope("real")) {
      var passTimes = Collections.synchronizedList(new ArrayList<Long>());
      ActorBuilder<Object> builder = RateLimit.around(realTimeScope.anonymous(), 20, Duration.ofMillis(100));
      long start = System.nanoTime();
      var actors = IntStream.range(0, 10)
          .mapToObj(i -> builder.newActor((Integer message) -> passTimes.add(System.nanoTime() - start))).toList();

      for (int i = 0; i < 100; i++) actors.get(i % 10).sendMessage(i);
      actors.forEach(Actor::close);

      var sortedTimes = passTimes.stream().sorted().toList();
      assertEquals(100, sortedTimes.size());
      for (int i = 20; i < 100; i++)
        assertTrue(sortedTimes.get(i) >= (i - 19) * 5_000_000L,
            "message " + i + " passed after " + sortedTimes.get(i) + " ns");
    }
  }
}
