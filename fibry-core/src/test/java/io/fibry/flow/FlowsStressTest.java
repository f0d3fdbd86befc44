package io.fibry.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.engine.scope.Scopes;
import io.fibry.flow.Generator.Output;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.StressRuns;
import io.fibry.testing.Variants;
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

/** Tests random generators and map-reduces that end, fail, or are cancelled at random moments. */
class FlowsStressTest {
  private static final int ROUNDS = Soak.ON ? 50_000 : 150;

  private final RecordedLetters letters = new RecordedLetters();
  private final ActorScope scope = ActorSystem.openScope("stress", o -> o.withDeadLetterListener(letters));
  private final long seed = StressRuns.seed();
  private final SplittableRandom random = new SplittableRandom(seed);
  private List<String> strategies = List.copyOf(Variants.STRATEGIES.keySet());

  /** Returns a test for a simulation, which can use only strategies whose threads it simulates. */
  static FlowsStressTest of(List<String> strategies) {
    var test = new FlowsStressTest();
    test.strategies = strategies;
    return test;
  }

  @BeforeEach
  void printSeed() {
    System.out.println("flows: -Dfibry.seed=" + seed);
  }

  @AfterEach
  void awaitActorsAndCloseScope() {
    Scopes.awaitNoActors(scope);
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
  void randomGeneratorsDeliverTheExpectedElements() {
    for (int round = 0; round < ROUNDS; round++) generator(random.split(), "round " + round);
  }

  void generator(SplittableRandom random, String label) {
    int elementCount = random.nextInt(60);
    int failureIndex = random.nextInt(4) == 0 ? random.nextInt(elementCount + 1) : -1;
    // at most two producers, because each may occupy a thread of an executor with two threads
    int producers = failureIndex < 0 ? 1 + random.nextInt(2) : 1;
    Generator<Integer> generator =
        Generator.of(builder(random), 1 + random.nextInt(12), producers(producers, elementCount, failureIndex, random));
    int closeIndex = random.nextInt(3) == 0 ? random.nextInt(elementCount + 1) : -1;

    var result = read(generator, closeIndex, random);

    if (closeIndex >= 0 && (failureIndex < 0 || closeIndex <= failureIndex))
      assertEquals(closeIndex, result.readCount, label);
    else assertEquals(failureIndex < 0 ? producers * elementCount : failureIndex, result.readCount, label);
    assertEquals(failureIndex >= 0 && (closeIndex < 0 || closeIndex > failureIndex) ? "failed" : "none",
        result.failure, label);
  }

  private record ReadResult(int readCount, String failure) {}

  private static ReadResult read(Generator<Integer> generator, int closeIndex, SplittableRandom random) {
    int readCount = 0;
    try (var iterator = generator.iterator()) {
      while (readCount != closeIndex && iterator.hasNext()) {
        iterator.next();
        readCount++;
        pause(random);
      }
    } catch (IllegalStateException failure) {
      return new ReadResult(readCount, failure.getMessage());
    }
    return new ReadResult(readCount, "none");
  }

  private static Handler<Output<Integer>>[] producers(int count, int elementCount, int failureIndex,
      SplittableRandom random) {
    var seeds = IntStream.range(0, count).mapToObj(i -> random.split()).toList();
    @SuppressWarnings({"unchecked", "rawtypes"}) Handler<Output<Integer>>[] handlers = new Handler[count];
    for (int index = 0; index < count; index++) {
      var producerRandom = seeds.get(index);
      handlers[index] = out -> {
        for (int i = 0; i <= elementCount; i++) {
          if (i == failureIndex) throw new IllegalStateException("failed");
          if (i < elementCount) out.yield(i);
          pause(producerRandom);
        }
      };
    }
    return handlers;
  }

  @Test
  void randomMapReduceGivesFullResultFailureOrCancellation() {
    for (int round = 0; round < ROUNDS; round++) mapReduce(random.split(), "round " + round);
  }

  void mapReduce(SplittableRandom random, String label) {
    int itemCount = random.nextInt(60);
    int failureIndex = random.nextInt(4) == 0 ? random.nextInt(60) : -1;
    int cancelIndex = random.nextInt(4) == 0 ? random.nextInt(60) : -1;
    var future = new CompletableFuture<CompletableFuture<List<Integer>>>();
    var activeCount = new AtomicInteger();
    int maxParallel = 1 + random.nextInt(6);
    var delayRandom = new SplittableRandom(random.nextLong());

    future.complete(MapReduce.start(builder(random), maxParallel, IntStream.range(0, itemCount).boxed().toList(), i -> {
      if (activeCount.incrementAndGet() > maxParallel)
        throw new AssertionError("more than " + maxParallel + " at once");
      synchronized (delayRandom) {
        pause(delayRandom);
      }
      activeCount.decrementAndGet();
      if (i == failureIndex) throw new IllegalStateException("failed");
      if (i == cancelIndex && future.isDone()) future.join().cancel(true);
      return List.of(i);
    }, List.<Integer>of(), FlowsStressTest::concat));

    var outcome = Patience.value(future.join().handle((value, failure) -> failure == null ? value
        : failure instanceof CancellationException ? "cancelled" : failure.getMessage()));
    boolean fails = failureIndex >= 0 && failureIndex < itemCount;
    var expected = IntStream.range(0, itemCount).boxed().toList();
    var allowedOutcomes = new ArrayList<Object>(List.of(fails ? "failed" : expected));
    if (cancelIndex >= 0 && cancelIndex < itemCount) allowedOutcomes.addAll(List.of("cancelled"));
    assertEquals(true, allowedOutcomes.contains(outcome), label + ": " + outcome);
  }

  private static List<Integer> concat(List<Integer> left, List<Integer> right) {
    var list = new ArrayList<>(left);
    list.addAll(right);
    return list;
  }
}
