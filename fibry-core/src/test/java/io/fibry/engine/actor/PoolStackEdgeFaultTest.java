package io.fibry.engine.actor;

import static io.fibry.testing.OverflowingSender.MAX_DEPTH;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.engine.cell.ActorInternals;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.message.RequestFuture;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.OverflowingSender;
import io.fibry.testing.OverflowingSender.Verb;
import io.fibry.testing.SilencedStdErr;
import io.fibry.testing.StressRuns;
import io.fibry.testing.Variants;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests stack overflows inside sends to pools. A sender recurses until its stack is full, and from
 * a certain depth on sends a message to a pool at every depth. The pool must continue, and lose no
 * accepted message unless it runs on the sender's stack. A pool must also end if the stack
 * overflows inside the code that ends it.
 */
@ExtendWith(SilencedStdErr.class)
class PoolStackEdgeFaultTest {
  private static final Integer PROBE_NUMBER = -1;
  private static final int EPISODES = Integer.getInteger("fibry.episodes", 0) > 0 ? Integer.getInteger("fibry.episodes")
      : Soak.ON ? 1_000 : 6;
  // at least 30, for all combinations of kinds, strategies and stop methods
  private static final int STOP_EPISODES = Soak.ON ? 100 : 30;
  private static final Map<String, UnaryOperator<ActorBuilder<Integer>>> KINDS = Map.of(
      "fixed", builder -> Pools.fixed(builder, 2),
      "scaling", builder -> Pools.scaling(builder, 0, 2),
      "perMessage", Pools::perMessage,
      "weighted", builder -> Pools.weighted(builder, 3, (Integer number) -> 1 + (number & 1)),
      "byKey", builder -> Pools.byKey(builder, 2, (Integer number) -> number & 3));

  /** One pool, and one sender whose stack overflows. */
  private static final class Episode extends OverflowingSender {
    // if true, workers run on the sender's stack, so their handlers may overflow, too
    private final boolean nested;

    Episode(UnaryOperator<ActorBuilder<Integer>> kind, Strategy strategy, Verb verb, int firstDepth) {
      super(kind.apply(Variants.scope(o -> o).anonymous().protocol(Integer.class).strategy(strategy)
          .onFailure(FailurePolicy.resume().withoutLog())), verb, firstDepth);
      this.nested = strategy == Strategy.CALLER;
    }

    Cell cell() {
      return (Cell) (Exitable) receiver;
    }

    boolean handledAllAccepted() {
      return nested || unhandledCount() == 0;
    }

    /** Returns the first violation, or null. */
    String findViolation() throws Exception {
      // these sends start drains for stranded rights to run
      for (int i = 0; i < 8; i++) receiver.sendMessageReturn(PROBE_NUMBER - i);
      StressRuns.runWithState(() -> Patience.value(receiver.sendMessageReturn(PROBE_NUMBER)),
          () -> "the pool is dead" + state());
      for (var future : futures)
        StressRuns.runWithState(() -> StressRuns.awaitOutcome(future), () -> "a request is incomplete" + state());
      if (!nested) Patience.eventually(() -> cell().isIdle());
      var wrongCount = findWrongCount(nested);
      if (wrongCount != null) return wrongCount;
      receiver.sendPoisonPill();
      StressRuns.runWithState(() -> Patience.awaitEnd(receiver::waitForExit), () -> "the pool does not end" + state());
      return cell().isIdle() ? null : "the pool is not idle: " + cell().activity().text();
    }

    private String state() {
      return ": phase " + ActorInternals.phase(cell()) + ", " + cell().activity().text() + ", stranded "
          + ActorInternals.strandedNode(cell())
          + ", the max depth was " + depth();
    }
  }

  static Stream<Object[]> cases() {
    return Stream.of("FIBER", "THREAD", "CALLER").flatMap(strategy -> KINDS.keySet().stream().sorted()
        .flatMap(kind -> Stream.of(Verb.MESSAGE, Verb.FUTURE, Verb.ASK)
            .map(verb -> new Object[] {strategy, kind, verb})));
  }

  private static Strategy strategy(String name) {
    return name.equals("FIBER") ? Strategy.FIBER : name.equals("THREAD") ? Strategy.THREAD : Strategy.CALLER;
  }

  @ParameterizedTest
  @MethodSource("cases")
  void poolHandlesNextMessageAfterStackOverflowInSend(String strategy, String kind, Verb verb) throws Exception {
    int[] overflowDepths = new int[2];
    for (int i = 0; i < EPISODES; i++) {
      int stackKind = i % 4 == 3 ? 1 : 0; // 1: the sender has the stack of a virtual thread
      var episode = new Episode(KINDS.get(kind), strategy(strategy), verb,
          overflowDepths[stackKind] == 0 ? MAX_DEPTH : Math.max(0, overflowDepths[stackKind] - 100 - 40 * (i % 20)));
      overflowDepths[stackKind] = episode.play(stackKind == 1);

      assertNull(episode.findViolation(), "episode " + i);
    }
  }

  /**
   * Sends no message after the overflow, so the pool must handle the accepted messages without the
   * help of another send.
   */
  @ParameterizedTest
  @MethodSource("cases")
  void acceptedMessagesAreHandledAfterStackOverflowInSend(String strategy, String kind, Verb verb) throws Exception {
    long seed = StressRuns.seed();
    System.out.println("overflows of sends to pools: -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    int maxDepth = MAX_DEPTH;
    for (int i = 0; i < EPISODES; i++) {
      var episode = new Episode(KINDS.get(kind), strategy(strategy), verb,
          Math.max(0, maxDepth - 1 - random.nextInt(1_000)));
      maxDepth = episode.play(false);

      Patience.eventually(episode::handledAllAccepted);
      episode.receiver.kill();
    }
  }

  @Test
  void poolStoppedNearEndOfStackEnds() throws Exception {
    for (int i = 0; i < STOP_EPISODES; i++) {
      var kind = KINDS.values().stream().toList().get(i % KINDS.size());
      var episode = new Episode(kind, i % 2 == 0 ? Strategy.FIBER : Strategy.THREAD, Verb.FUTURE, 0);
      for (int number = 0; number < 10; number++) episode.send(number);
      int stopMethod = i % 3;

      var stopper = OverflowingSender.smallStack(() -> stopAtEveryDepth(episode.receiver, stopMethod));
      stopper.start();
      stopper.join();

      StressRuns.runWithState(() -> Patience.awaitEnd(episode.receiver::waitForExit), episode::state);
      for (int number = 0; number < 10; number++) {
        var request = episode.futures.get(number);
        int handled = episode.handled(number);
        StressRuns.runWithState(() -> StressRuns.awaitOutcome(request),
            () -> "a request handled " + handled + " times, begun " + ((RequestFuture<?>) (Object) request).isBegun()
                + ((ActorScope) episode.cell().owner()).report());
      }
      // on a slow machine the kill grace may end first: the pool is then cut off, and ends before
      // its workers
      StressRuns.runWithState(() -> Patience.eventually(() -> episode.cell().workersAndSelf().size() == 1),
          episode::state);
    }
  }

  private static void stopAtEveryDepth(Exitable pool, int stopMethod) {
    try {
      stopAtEveryDepth(pool, stopMethod);
    } finally {
      if (stopMethod == 0) pool.askExit();
      else if (stopMethod == 1) pool.sendPoisonPill();
      else pool.kill();
    }
  }
}
