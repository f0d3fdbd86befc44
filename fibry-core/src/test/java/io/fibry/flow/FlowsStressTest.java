package io.fibry.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.Letters;
import io.fibry.StressHarness;
import io.fibry.Variants;
import io.fibry.flow.Generator.Output;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Random generators and map-reduces that end, fail, or are cancelled at any moment. */
class FlowsStressTest {
  private static final int ROUNDS = Soak.ON ? 50_000 : 150;

  private final Letters letters = new Letters();
  private final ActorScope scope = ActorSystem.openScope("stress", o -> o.withDeadLetters(letters));
  private final long seed = StressHarness.seed();
  private final SplittableRandom random = new SplittableRandom(seed);
  private List<String> strategies = List.copyOf(Variants.STRATEGIES.keySet());

  /** For a simulation, which has no threads but its own. */
  static FlowsStressTest of(List<String> strategies) {
    var test = new FlowsStressTest();
    test.strategies = strategies;
    return test;
  }

  @BeforeEach
  void tellsItsSeed() {
    System.out.println("flows: -Dfibry.seed=" + seed);
  }

  @AfterEach
  void nothingIsLeft() {
    Patience.eventually(() -> scope.dump().lines().count() == 1);
    assertEquals(List.of(), letters.messages(), "dead letters");
    scope.close();
  }

  private ActorBuilder<Object> builder(SplittableRandom random) {
    var strategy = Variants.STRATEGIES.get(strategies.get(random.nextInt(strategies.size())));
    return scope.anonymous().strategy(strategy).onFailure(FailurePolicy.resume().withoutLog());
  }

  private static void pause(SplittableRandom random) {
    switch (random.nextInt(8)) {
      case 0 -> Thread.yield();
      case 1 -> {
        for (int spins = random.nextInt(2_000); spins > 0; spins--) Thread.onSpinWait();
      }
      default -> {}
    }
  }

  @Test
  void generators() {
    for (int round = 0; round < ROUNDS; round++) generator(random.split(), "round " + round);
  }

  void generator(SplittableRandom own, String what) {
    int elements = own.nextInt(60);
    int failing = own.nextInt(4) == 0 ? own.nextInt(elements + 1) : -1;
    // each may hold a thread of the pool
    int producers = failing < 0 ? 1 + own.nextInt(2) : 1;
    Generator<Integer> generator =
        Generator.of(builder(own), 1 + own.nextInt(12), producers(producers, elements, failing, own));
    int closed = own.nextInt(3) == 0 ? own.nextInt(elements + 1) : -1;

    var end = read(generator, closed, own);

    if (closed >= 0 && (failing < 0 || closed <= failing)) assertEquals(closed, end.read, what);
    else assertEquals(failing < 0 ? producers * elements : failing, end.read, what);
    assertEquals(failing >= 0 && (closed < 0 || closed > failing) ? "failed" : "none", end.failure, what);
  }

  private record End(int read, String failure) {}

  private static End read(Generator<Integer> generator, int closed, SplittableRandom random) {
    int read = 0;
    try (var reading = generator.iterator()) {
      while (read != closed && reading.hasNext()) {
        reading.next();
        read++;
        pause(random);
      }
    } catch (IllegalStateException failure) {
      return new End(read, failure.getMessage());
    }
    return new End(read, "none");
  }

  private static Handler<Output<Integer>>[] producers(int count, int elements, int failing, SplittableRandom random) {
    var seeds = IntStream.range(0, count).mapToObj(i -> random.split()).toList();
    @SuppressWarnings({"unchecked", "rawtypes"}) Handler<Output<Integer>>[] all = new Handler[count];
    for (int p = 0; p < count; p++) {
      var own = seeds.get(p);
      all[p] = out -> {
        for (int i = 0; i <= elements; i++) {
          if (i == failing) throw new IllegalStateException("failed");
          if (i < elements) out.yield(i);
          pause(own);
        }
      };
    }
    return all;
  }

  @Test
  void mapReduces() {
    for (int round = 0; round < ROUNDS; round++) mapReduce(random.split(), "round " + round);
  }

  void mapReduce(SplittableRandom own, String what) {
    int items = own.nextInt(60);
    int failing = own.nextInt(4) == 0 ? own.nextInt(60) : -1;
    int cancelled = own.nextInt(4) == 0 ? own.nextInt(60) : -1;
    var result = new CompletableFuture<CompletableFuture<List<Integer>>>();
    var inside = new AtomicInteger();
    int parallel = 1 + own.nextInt(6);
    var delays = new SplittableRandom(own.nextLong());

    result.complete(MapReduce.start(builder(own), parallel, IntStream.range(0, items).boxed().toList(), i -> {
      if (inside.incrementAndGet() > parallel) throw new AssertionError("more than " + parallel + " at once");
      synchronized (delays) {
        pause(delays);
      }
      inside.decrementAndGet();
      if (i == failing) throw new IllegalStateException("failed");
      if (i == cancelled && result.isDone()) result.join().cancel(true);
      return List.of(i);
    }, List.<Integer>of(), FlowsStressTest::joined));

    var outcome = Patience.value(result.join().handle((value, failure) -> failure == null ? value
        : failure instanceof CancellationException ? "cancelled" : failure.getMessage()));
    boolean fails = failing >= 0 && failing < items;
    var complete = IntStream.range(0, items).boxed().toList();
    var allowed = new ArrayList<Object>(List.of(fails ? "failed" : complete));
    if (cancelled >= 0 && cancelled < items) allowed.addAll(List.of("cancelled"));
    assertEquals(true, allowed.contains(outcome), what + ": " + outcome);
  }

  private static List<Integer> joined(List<Integer> left, List<Integer> right) {
    var both = new ArrayList<>(left);
    both.addAll(right);
    return both;
  }
}
