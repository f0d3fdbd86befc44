package io.fibry.engine.actor;

import static org.junit.jupiter.api.Assertions.assertNull;

import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorWithReturn;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.Hush;
import io.fibry.Strategy;
import io.fibry.StressHarness;
import io.fibry.Variants;
import io.fibry.Waits;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.cell.Inside;
import io.fibry.engine.message.RequestFuture;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A sender recurses and sends to a pool at every depth until its stack is full. The pool continues
 * and loses no message. Code that ends the pool has the same guarantee.
 */
@ExtendWith(Hush.class)
class PoolStackEdgeFaultTest {
  private static final int DEEPEST = 60_000;
  private static final Integer[] NUMBERS = Stream.iterate(0, i -> i + 1).limit(DEEPEST).toArray(Integer[]::new);
  private static final Integer LAST = -1;
  private static final int EPISODES = Integer.getInteger("fibry.episodes", 0) > 0 ? Integer.getInteger("fibry.episodes")
      : Soak.ON ? 1_000 : 6;
  private static final int ENDS = Soak.ON ? 100 : 30; // each kind, strategy and route
  private static final Map<String, UnaryOperator<ActorBuilder<Integer>>> KINDS = Map.of(
      "fixed", how -> Pools.fixed(how, 2),
      "scaling", how -> Pools.scaling(how, 0, 2),
      "perMessage", Pools::perMessage,
      "weighted", how -> Pools.weighted(how, 3, (Integer number) -> 1 + (number & 1)),
      "byKey", how -> Pools.byKey(how, 2, (Integer number) -> number & 3));

  enum Verb { MESSAGE, FUTURE, ASK }

  /** One pool, and one sender whose stack overflows. */
  private static final class Episode implements Runnable {
    private final AtomicIntegerArray handled = new AtomicIntegerArray(DEEPEST);
    private final boolean[] taken = new boolean[DEEPEST];
    private final List<CompletableFuture<Integer>> futures = new ArrayList<>(DEEPEST);
    private final ActorWithReturn<Integer, Integer> pool;
    private final Verb verb;
    private final int from; // the depth at which sending begins
    // workers run on the sender's stack, so handlers may overflow it too
    private final boolean nested;
    private int depth;

    Episode(UnaryOperator<ActorBuilder<Integer>> kind, Strategy strategy, Verb verb, int from) {
      this.verb = verb;
      this.from = from;
      this.nested = strategy == Strategy.CALLER;
      this.pool = kind.apply(Variants.scope(o -> o).anonymous().protocol(Integer.class).strategy(strategy)
          .onFailure(FailurePolicy.resume().withoutLog())).newActorWithReturn((Integer number) -> {
            if (number >= 0) handled.incrementAndGet(number);
            return number;
          });
    }

    Cell cell() {
      return (Cell) (Exitable) pool;
    }

    @Override
    public void run() {
      try {
        descend(0);
      } catch (StackOverflowError edge) {
        // intended
      }
    }

    private void descend(int level) {
      depth = level;
      if (level >= from) send(level);
      if (level < DEEPEST - 1) descend(level + 1);
    }

    private void send(int level) {
      switch (verb) {
        case MESSAGE -> taken[level] = pool.sendMessage(NUMBERS[level]);
        case FUTURE -> {
          var future = pool.sendMessageReturn(NUMBERS[level]);
          taken[level] = true;
          futures.add(future);
        }
        case ASK -> taken[level] = pool.ask(NUMBERS[level]) != null;
      }
    }

    boolean handledAllTaken() {
      for (int i = 0; i <= depth; i++) if (taken[i] && handled.get(i) != 1 && !nested) return false;
      return true;
    }

    /** Null if all is well. */
    String fault() throws Exception {
      // later sends pick up stranded messages
      for (int i = 0; i < 8; i++) pool.sendMessageReturn(LAST - i);
      Waits.explained(() -> Patience.value(pool.sendMessageReturn(LAST)), () -> "the pool is dead" + state());
      for (var future : futures) Waits.explained(() -> Waits.done(future), () -> "a request is incomplete" + state());
      if (!nested) Patience.eventually(() -> cell().isIdle());
      for (int i = 0; i <= depth; i++) {
        if (handled.get(i) > 1) return i + " was handled " + handled.get(i) + " times, the deepest was " + depth;
        if (taken[i] && handled.get(i) != 1 && !nested)
          return i + " was taken and not handled, the deepest was " + depth;
      }
      pool.sendPoisonPill();
      Waits.explained(() -> Patience.ended(pool::waitForExit), () -> "it does not end" + state());
      return cell().isIdle() ? null : "it says that it is at something: " + cell().activity();
    }

    private String state() {
      return ": phase " + Inside.phase(cell()) + ", " + cell().activity() + ", stranded " + Inside.stranded(cell())
          + ", the deepest was " + depth;
    }
  }

  static Stream<Object[]> cases() {
    return Stream.of("FIBER", "THREAD", "CALLER").flatMap(strategy -> KINDS.keySet().stream().sorted()
        .flatMap(kind -> Stream.of(Verb.values()).map(verb -> new Object[] {strategy, kind, verb})));
  }

  private static Strategy strategy(String name) {
    return name.equals("FIBER") ? Strategy.FIBER : name.equals("THREAD") ? Strategy.THREAD : Strategy.CALLER;
  }

  @ParameterizedTest
  @MethodSource("cases")
  void anOverflowInsideASendHarmsNoPool(String strategy, String kind, Verb verb) throws Exception {
    int[] edge = new int[2];
    for (int i = 0; i < EPISODES; i++) {
      int virtual = i % 4 == 3 ? 1 : 0;
      var episode = new Episode(KINDS.get(kind), strategy(strategy), verb,
          edge[virtual] == 0 ? DEEPEST : Math.max(0, edge[virtual] - 100 - 40 * (i % 20)));
      var sender = virtual == 1 ? Thread.ofVirtual().unstarted(episode) : new Thread(null, episode, "sender", 200_000);
      sender.start();
      sender.join();
      edge[virtual] = episode.depth;

      assertNull(episode.fault(), "episode " + i);
    }
  }

  /** No message is sent after the overflow. */
  @ParameterizedTest
  @MethodSource("cases")
  void takenMessagesAreHandledAfterOverflow(String strategy, String kind, Verb verb) throws Exception {
    long seed = StressHarness.seed();
    System.out.println("overflows of sends to pools: -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    int deepest = DEEPEST;
    for (int i = 0; i < EPISODES; i++) {
      var episode = new Episode(KINDS.get(kind), strategy(strategy), verb,
          Math.max(0, deepest - 1 - random.nextInt(1_000)));
      var sender = new Thread(null, episode, "sender", 200_000);
      sender.start();
      sender.join();
      deepest = episode.depth;

      Patience.eventually(episode::handledAllTaken);
      episode.pool.kill();
    }
  }

  @Test
  void aPoolEndsWhenAskedToAtTheEdgeOfAStack() throws Exception {
    for (int i = 0; i < ENDS; i++) {
      var kind = KINDS.values().stream().toList().get(i % KINDS.size());
      var episode = new Episode(kind, i % 2 == 0 ? Strategy.FIBER : Strategy.THREAD, Verb.FUTURE, 0);
      for (int n = 0; n < 10; n++) episode.send(n);
      int route = i % 3;

      var ender = new Thread(null, () -> climb(episode.pool, route), "ender", 200_000);
      ender.start();
      ender.join();

      Waits.explained(() -> Patience.ended(episode.pool::waitForExit), episode::state);
      for (int n = 0; n < 10; n++) {
        var request = episode.futures.get(n);
        int handled = episode.handled.get(n);
        Waits.explained(() -> Waits.done(request),
            () -> "a request handled " + handled + " times, begun " + ((RequestFuture<?>) (Object) request).isBegun()
                + ((ActorScope) episode.cell().owner()).report());
      }
      // a pool that was cut off, since the machine is slow, ends before its workers
      Waits.explained(() -> Patience.eventually(() -> episode.cell().workersAndSelf().size() == 1), episode::state);
    }
  }

  private static void climb(Exitable pool, int route) {
    try {
      climb(pool, route);
    } finally {
      if (route == 0) pool.askExit();
      else if (route == 1) pool.sendPoisonPill();
      else pool.kill();
    }
  }
}
