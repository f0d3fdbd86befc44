package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.engine.cell.Cell;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.StressRuns;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntUnaryOperator;
import java.util.function.UnaryOperator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests the lower bound for the wait of the oldest message while requests expire in the mailbox.
 */
class ExpiredRequestWaitTest extends OldestWaitingSetup {
  private static final long NEVER = Long.MAX_VALUE;

  /** Waits until this number of messages waits, without an observation of their ages. */
  private static void awaitQueued(Object actor, int expected) {
    Patience.eventually(() -> ((Cell) actor).countQueued(Integer.MAX_VALUE) == expected);
  }

  /** Makes an actor that handles a message until its gate opens. */
  private ActorWithReturn<Object, Object> stuckActor(UnaryOperator<ActorBuilder<Object>> change) {
    var actor = change.apply(scope.named("warehouse")).newActorWithReturn(OldestWaitingSetup::passGate);
    Gate.occupy(actor);
    return actor;
  }

  /** Each second a request comes that expires after 2 s, and each 5 s a message without a limit. */
  @Promise("19.25")
  @ParameterizedTest
  @MethodSource("builders")
  void expiredRequestsDoNotHideWaitOfOlderMessage(UnaryOperator<ActorBuilder<Object>> change) {
    var actor = stuckActor(change);

    letRequestsExpire(actor, 5, second -> {
      if (second % 5 == 0) actor.sendMessage("waits");
      return second / 5;
    });
  }

  /** Each second a request comes that expires after 2 s. A request of 15 min is before them. */
  @Promise("19.25")
  @ParameterizedTest
  @MethodSource("builders")
  void expiredRequestsDoNotHideWaitOfOlderRequestThatExpiresLater(UnaryOperator<ActorBuilder<Object>> change) {
    var actor = stuckActor(change);
    actor.sendMessageReturn("expires much later", Duration.ofMinutes(15));

    letRequestsExpire(actor, 0, second -> 1);
  }

  /**
   * Sends a request each second, which expires after 2 s, and checks the bound every ten seconds.
   *
   * @param firstSecond when the oldest message came
   * @param others may send other messages in a second, and returns how many of them wait
   */
  private void letRequestsExpire(ActorWithReturn<Object, Object> actor, int firstSecond, IntUnaryOperator others) {
    for (int second = 1; second <= 180; second++) {
      clock.advance(SECOND);
      int otherCount = others.applyAsInt(second);
      actor.sendMessageReturn("expires", Duration.ofSeconds(2));
      awaitQueued(actor, otherCount + Math.min(second, 2));
      if (second % 10 != 0) continue;
      long bound = oldest();
      long age = second - firstSecond;
      assertTrue(bound <= age && bound >= age - 10, bound + " s instead of " + age + " s at " + second);
    }
  }

  @Promise("19.25")
  @ParameterizedTest
  @MethodSource("builders")
  void expiredOldestRequestWaitsNoLonger(UnaryOperator<ActorBuilder<Object>> change) {
    var actor = stuckActor(change);
    actor.sendMessageReturn("expires", Duration.ofSeconds(100));
    assertEquals(0, oldest());
    clock.advance(Duration.ofSeconds(80));
    actor.sendMessageReturn("expires earlier", Duration.ofSeconds(15));
    assertEquals(80, oldest());
    clock.advance(Duration.ofSeconds(5));
    actor.sendMessage("waits");
    assertEquals(85, oldest());

    clock.advance(Duration.ofSeconds(15));
    awaitQueued(actor, 1);

    assertEquals(15, oldest(), "the wait of the message without a limit");
  }

  /** A message that waits; {@code expiresAt} is NEVER if it has no limit. */
  private record Waiting(long sentAt, long expiresAt) {}

  /** Compares with the true time. Half of the actors handle no message, and so have two bounds. */
  @Promise("19.25")
  @ParameterizedTest
  @MethodSource("buildersInOrderOfArrival")
  void boundNeverExceedsTrueWait(UnaryOperator<ActorBuilder<Object>> change) {
    long seed = StressRuns.seed();
    System.out.println("waits beside expired requests: -Dfibry.seed=" + seed);
    var seeds = new Random(seed);
    for (int run = 0; run < 20; run++) runRandomly(change, new Random(seeds.nextLong()), run % 2 == 0, seed);
  }

  private void runRandomly(UnaryOperator<ActorBuilder<Object>> change, Random random, boolean isStuck, long seed) {
    var permits = new Semaphore(0);
    var begun = new AtomicInteger();
    var actor = change.apply(scope.named("warehouse")).newActorWithReturn((Object message) -> {
      begun.incrementAndGet();
      permits.acquire();
      return message;
    });
    actor.sendMessage("handled");
    Patience.eventually(() -> begun.get() == 1);
    var waiting = new ArrayDeque<Waiting>();
    long now = 0;
    long lastObservation = 0;
    long maxInterval = 0;
    for (int step = 0; step < 150; step++) {
      switch (random.nextInt(6)) {
        case 0, 1 -> {
          int seconds = 1 + random.nextInt(4);
          clock.advance(Duration.ofSeconds(seconds));
          long newNow = now += seconds;
          waiting.removeIf(message -> message.expiresAt <= newNow);
        }
        case 2 -> {
          if (random.nextInt(3) > 0) continue; // fewer messages than requests
          actor.sendMessage("waits");
          waiting.add(new Waiting(now, NEVER));
        }
        case 3 -> {
          int limit = new int[] {2, 10, 100}[random.nextInt(3)];
          actor.sendMessageReturn("expires", Duration.ofSeconds(limit));
          waiting.add(new Waiting(now, now + limit));
        }
        case 4 -> {
          if (isStuck || waiting.isEmpty()) continue;
          int expected = begun.get() + 1;
          permits.release();
          Patience.eventually(() -> begun.get() == expected);
          waiting.removeFirst();
        }
        default -> {
          maxInterval = Math.max(maxInterval, now - lastObservation);
          lastObservation = now;
          long bound = oldest();
          long end = now;
          long age = waiting.isEmpty() ? 0 : end - waiting.getFirst().sentAt;
          long lastingAge =
              waiting.stream().filter(message -> message.expiresAt == NEVER).mapToLong(message -> end - message.sentAt)
                  .findFirst().orElse(0);
          assertTrue(bound <= age && (!isStuck || bound >= lastingAge - maxInterval),
              () -> bound + " s instead of " + age + " s (" + lastingAge + " s without requests); -Dfibry.seed="
                  + seed);
        }
      }
      awaitQueued(actor, waiting.size());
    }
    actor.kill();
    permits.release(1_000);
    Patience.awaitEnd(actor::waitForExit);
  }
}
