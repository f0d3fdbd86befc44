package io.fibry.flow;

import static io.fibry.flow.NullAssertion.assertNullRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Clock;
import io.fibry.FailurePolicy;
import io.fibry.LeakProbe;
import io.fibry.Letters;
import io.fibry.Promise;
import io.fibry.Strategy;
import io.fibry.Variants;
import io.fibry.spi.BlockBuilder;
import io.fibry.spi.PoolPolicy;
import io.fibry.support.Patience;
import io.fibry.time.Scheduler;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
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

  /** Knows what is due when. */
  static final class Waits extends Clock {
    final Set<Long> due = new ConcurrentSkipListSet<>();

    @Override
    public Timer schedule(Duration delay, Runnable task) {
      long at = nanoTime() + delay.toNanos();
      due.add(at);
      var timer = super.schedule(delay, () -> {
        due.remove(at);
        task.run();
      });
      return () -> {
        due.remove(at);
        return timer.cancel();
      };
    }
  }

  private final Waits clock = new Waits();
  private final Letters letters = new Letters();
  private final ActorScope scope = ActorSystem.openScope("rates", o -> o.withScheduler(clock).withDeadLetters(letters));
  // in ms, of the messages that passed
  private final List<Long> times = Collections.synchronizedList(new ArrayList<>());

  static List<String> strategies() {
    return Variants.STRATEGIES.keySet().stream().filter(name -> !name.equals("CALLER")).toList();
  }

  @AfterEach
  void close() {
    scope.closeWithin(Duration.ZERO);
  }

  private void passed(Object message) {
    times.add(clock.nanoTime() / 1_000_000);
  }

  @Test
  void killedActorLeavesItsPlaceToNext() {
    var limited = RateLimit.around(scope.anonymous(), 1, SECOND);
    Actor<String> first = limited.newActor(this::passed);
    first.sendMessage("first");
    pass(1);
    var killed = new ArrayList<Actor<String>>();
    for (int i = 0; i < 10; i++) {
      int waiting = i + 1;
      Actor<String> actor = limited.newActor(this::passed);
      actor.sendMessage("killed");
      Patience.eventually(() -> clock.due.size() == waiting);
      killed.add(actor);
    }
    killed.forEach(Actor::kill);
    killed.forEach(actor -> Patience.ended(actor::waitForExit));

    first.sendMessage("later");
    pass(2);
    clock.manual.advance(SECOND.multipliedBy(20)); // the other places are over: one token is available, not nine
    for (int i = 0; i < 2; i++) first.sendMessage("later");
    pass(4);

    assertEquals(List.of(0L, 1_000L, 21_000L, 22_000L), times);
  }

  /** Moves the clock from one wait to the next. */
  private void pass(int messages) {
    while (times.size() < messages) {
      Patience.eventually(() -> next() > 0 || times.size() >= messages);
      clock.manual.advance(Duration.ofNanos(next()));
    }
  }

  /** Returns the time until the next wait ends, or 0 if there is none. */
  private long next() {
    long now = clock.nanoTime();
    return clock.due.stream().mapToLong(at -> at - now).filter(left -> left > 0).findFirst().orElse(0);
  }

  // ---- how many, and when

  @ParameterizedTest
  @MethodSource("strategies")
  void aBurstPassesAtOnceAndWhatComesAfterIsSpreadOverThePeriod(String strategy) {
    var actor =
        RateLimit.around(scope.anonymous().strategy(Variants.STRATEGIES.get(strategy)), 4, SECOND)
            .newActor(this::passed);

    for (int i = 0; i < 9; i++) actor.sendMessage(i);
    pass(9);

    assertEquals(List.of(0L, 0L, 0L, 0L, 250L, 500L, 750L, 1_000L, 1_250L), times);
  }

  @Test
  void senderWaitsOnCallerThread() {
    var actor = RateLimit.around(scope.anonymous().strategy(Strategy.CALLER), 1, SECOND).newActor(this::passed);
    actor.sendMessage("at once");
    assertEquals(List.of(0L), times);

    var sender = Patience.startFiber(() -> actor.sendMessage("later"));
    Patience.parked(sender);
    pass(2);
    Patience.joined(sender);

    assertEquals(List.of(0L, 1_000L), times);
  }

  @Promise("22.12")
  @ParameterizedTest
  @CsvSource({"3, 1000", "7, 1000", "1000, 1001"})
  void rateDoesNotDrift(int messages, int period) {
    var bucket = new TokenBucket(clock, messages, Duration.ofNanos(period));
    int more = 3 * messages;

    Patience.startFiber(() -> take(bucket, messages + more));
    pass(messages + more);

    assertEquals(3L * period, clock.nanoTime());
  }

  private void take(TokenBucket bucket, int times) {
    try {
      for (int i = 0; i < times; i++) {
        bucket.awaitToken();
        this.times.add(clock.nanoTime());
      }
    } catch (InterruptedException interrupted) {
      // as at the end of a test
    }
  }

  @Promise("22.12")
  @Test
  void afterACalmThereIsOneBurstAndNoMore() {
    var actor = RateLimit.around(scope.anonymous(), 2, SECOND).newActor(this::passed);
    for (int i = 0; i < 2; i++) actor.sendMessage(i);
    Patience.eventually(() -> times.size() == 2);
    clock.manual.advance(Duration.ofHours(1));

    for (int i = 0; i < 3; i++) actor.sendMessage(i);
    pass(5);

    assertEquals(List.of(0L, 0L, 3_600_000L, 3_600_000L, 3_600_500L), times);
  }

  @Test
  void tokensRegainedMeanwhileCanBeUsed() {
    var actor = RateLimit.around(scope.anonymous(), 4, SECOND).newActor(this::passed);
    for (int i = 0; i < 4; i++) actor.sendMessage(i);
    Patience.eventually(() -> times.size() == 4);
    clock.manual.advance(Duration.ofMillis(600));

    for (int i = 0; i < 3; i++) actor.sendMessage(i);
    pass(7);

    assertEquals(List.of(0L, 0L, 0L, 0L, 600L, 600L, 750L), times);
  }

  @Test
  void allActorsOfABuilderShareTheLimitAndAreServedInTheirOrder() {
    var order = new CopyOnWriteArrayList<Integer>();
    ActorBuilder<Object> builder = RateLimit.around(scope.anonymous(), 1, SECOND);
    var actors = IntStream.range(0, 5).mapToObj(i -> builder.newActor((String message) -> order.add(i))).toList();

    for (int i = 0; i < 5; i++) {
      int waiting = i;
      actors.get(i).sendMessage("go");
      Patience.eventually(() -> order.size() == 1 && clock.due.size() == waiting);
    }
    for (int i = 1; i < 5; i++) {
      int passed = i + 1;
      clock.manual.advance(SECOND);
      Patience.eventually(() -> order.size() == passed);
    }

    assertEquals(List.of(0, 1, 2, 3, 4), order);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theWorkersOfAPoolShareTheLimit(boolean first) {
    var three = PoolPolicy.scaling(3, 3);
    var builder = first ? BlockBuilder.of(RateLimit.around(scope.anonymous(), 2, SECOND)).pooled(three)
        : RateLimit.around(BlockBuilder.of(scope.anonymous()).pooled(three), 2, SECOND);
    var pool = builder.newActor(this::passed);

    for (int i = 0; i < 5; i++) pool.sendMessage(i);
    for (int left = 3; left >= 0; left--) {
      int waiting = left;
      Patience.eventually(() -> times.size() == 5 - waiting && clock.due.size() == waiting);
      clock.manual.advance(Duration.ofNanos(next()));
    }

    assertEquals(List.of(0L, 0L, 500L, 1_000L, 1_500L), times);
  }

  @Test
  void twoBuildersHaveALimitEach() {
    for (int i = 0; i < 2; i++) RateLimit.around(scope.anonymous(), 1, SECOND).newActor(this::passed).sendMessage(i);

    Patience.eventually(() -> times.size() == 2);

    assertEquals(List.of(0L, 0L), times);
  }

  @Test
  void limitedBuilderIsBuilderLikeAnyOther() {
    var builder = RateLimit.around(scope.named("geo").strategy(Strategy.CALLER), 3, SECOND);
    var state = builder.initialState(StringBuilder::new)
        .newActorWithReturn((StringBuilder all, String message) -> all.append(message).toString());

    assertEquals("geo", state.name());
    assertEquals("a", state.ask("a"));
    assertEquals("ab", state.ask("b"));
    assertEquals(Strategy.CALLER, BlockBuilder.of(builder).strategy());
  }

  @Test
  void aFailingMessageAndItsRetryTakeATokenEach() {
    var actor =
        RateLimit.around(scope.anonymous().onFailure(FailurePolicy.resume().withRetries(1).withoutLog()), 1, SECOND)
            .newActor((String message) -> {
              passed(message);
              throw new IOException("no");
            });

    actor.sendMessage("a");
    actor.sendMessage("b");
    pass(4);

    assertEquals(List.of(0L, 1_000L, 2_000L, 3_000L), times);
  }

  // ---- at the edges

  @Test
  void timesWithoutAnEndDoNotOverflow() throws Exception {
    var bucket = new TokenBucket(clock, 1, Duration.ofSeconds(Long.MAX_VALUE));
    bucket.awaitToken();

    var waiting = IntStream.range(0, 8).mapToObj(i -> Patience.startFiber(() -> take(bucket, 1))).toList();
    waiting.forEach(Patience::parked);
    clock.manual.advance(Duration.ofDays(10_000));

    assertEquals(List.of(), times);
    waiting.forEach(Thread::interrupt);
  }

  @Test
  void aRateBeyondTheClockLetsAllPass() throws Exception {
    var bucket = new TokenBucket(clock, Integer.MAX_VALUE, Duration.ofNanos(1));

    for (int i = 0; i < 100_000; i++) bucket.awaitToken();

    assertEquals(Set.of(), clock.due);
  }

  @Test
  void aClockThatMovesBeforeTheTimerIsSetHoldsNobodyUp() throws Exception {
    var moving = new Clock() {
      @Override
      public Scheduler.Timer schedule(Duration delay, Runnable task) {
        manual.advance(delay);
        return super.schedule(delay, task);
      }
    };
    var bucket = new TokenBucket(moving, 1, SECOND);

    for (int i = 0; i < 3; i++) bucket.awaitToken();

    assertEquals(2_000_000_000L, moving.nanoTime());
  }

  @Test
  void ratesWithoutAMeaningAreRefused() {
    var builder = scope.anonymous();

    var none = assertThrows(IllegalArgumentException.class, () -> RateLimit.around(builder, 0, SECOND));
    var never = assertThrows(IllegalArgumentException.class, () -> RateLimit.around(builder, 5, Duration.ZERO));

    assertEquals("a rate of 0 messages in 1 s would let none through; give at least 1", none.getMessage());
    assertEquals("a rate of 5 messages in 0 s is none; give a period of more than zero", never.getMessage());
    assertNullRefused("builder", () -> RateLimit.around(null, 1, SECOND));
    assertNullRefused("period", () -> RateLimit.around(builder, 1, null));
  }

  @Test
  void nothingIsLeft() {
    var actor =
        new AtomicReference<>(RateLimit.around(ActorSystem.anonymous(), 1, SECOND).newActor((String message) -> {}));
    actor.get().sendMessage("a");
    var reference = new WeakReference<Object>(actor.getAndSet(null));

    assertTrue(LeakProbe.collected(reference));
  }

  /** Uses the machine's clock. */
  @Test
  void manyActorsNeverPassTooMany() {
    try (var real = ActorSystem.openScope("real")) {
      var passed = Collections.synchronizedList(new ArrayList<Long>());
      ActorBuilder<Object> builder = RateLimit.around(real.anonymous(), 20, Duration.ofMillis(100));
      long began = System.nanoTime();
      var actors = IntStream.range(0, 10)
          .mapToObj(i -> builder.newActor((Integer message) -> passed.add(System.nanoTime() - began))).toList();

      for (int i = 0; i < 100; i++) actors.get(i % 10).sendMessage(i);
      actors.forEach(Actor::close);

      var sorted = passed.stream().sorted().toList();
      assertEquals(100, sorted.size());
      for (int i = 20; i < 100; i++)
        assertTrue(sorted.get(i) >= (i - 19) * 5_000_000L, "message " + i + " passed after " + sorted.get(i) + " ns");
    }
  }
}
