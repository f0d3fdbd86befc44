package io.fibry.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.AskTimeoutException;
import io.fibry.FailurePolicy;
import io.fibry.Gate;
import io.fibry.Letters;
import io.fibry.Strategy;
import io.fibry.Variants;
import io.fibry.spi.BlockBuilder;
import io.fibry.support.Patience;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.SubmissionPublisher;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Generators, map-reduce and bridges on every strategy. */
class FlowsContractTest {
  private final Letters letters = new Letters();
  private final ActorScope scope = ActorSystem.openScope("flows", o -> o.withDeadLetters(letters));

  static Set<String> strategies() {
    return Variants.STRATEGIES.keySet();
  }

  private ActorBuilder<Object> builder(String strategy) {
    return scope.anonymous().strategy(Variants.STRATEGIES.get(strategy)).onFailure(FailurePolicy.resume().withoutLog());
  }

  @AfterEach
  void nothingIsLeft() {
    Gate.openAll();
    Patience.eventually(() -> scope.dump().lines().count() == 1);
    assertEquals(List.of(), letters.messages(), "dead letters");
    scope.close();
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void aGeneratorGivesAllElements(String strategy) {
    for (int ahead : new int[] {1, 10, 1_000}) {
      Generator<Integer> generator = Generator.of(builder(strategy), ahead,
          out -> IntStream.range(0, 300).forEach(out::yield), out -> IntStream.range(300, 600).forEach(out::yield));

      assertEquals(IntStream.range(0, 600).boxed().toList(), generator.stream().sorted().toList());
    }
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void aProducersFailureReachesItsReader(String strategy) {
    var failure = new IOException("no more");
    var read = new ArrayList<Integer>();
    Generator<Integer> generator = Generator.of(builder(strategy), 2, out -> {
      for (int i = 0; i < 10; i++) out.yield(i);
      throw failure;
    });

    var thrown = assertThrows(IOException.class, () -> generator.forEach(read::add));

    assertSame(failure, thrown);
    assertEquals(10, read.size());
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void aClosedIterationEndsItsProducers(String strategy) {
    Generator<Integer> generator = Generator.of(builder(strategy), 2, out -> {
      for (int i = 0;; i++) out.yield(i);
    });

    try (var reading = generator.iterator()) {
      assertEquals(0, reading.next());
    }
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void aMapReduceFoldsAllInOrder(String strategy) {
    var items = IntStream.range(0, 200).boxed().toList();

    var text = MapReduce.start(builder(strategy), 4, items, i -> "" + (char) ('a' + i % 26), "", String::concat);

    assertEquals(items.stream().map(i -> "" + (char) ('a' + i % 26)).reduce("", String::concat), Patience.value(text));
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void theFirstFailureEndsAMapReduce(String strategy) {
    var failure = new IOException("the thirteenth");
    Iterable<Integer> endless = () -> IntStream.iterate(0, i -> i + 1).iterator();

    var sum = MapReduce.start(builder(strategy), 3, endless, i -> {
      if (i == 13) throw failure;
      return i;
    }, 0, Integer::sum);

    assertSame(failure, Patience.failure(sum));
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void aStreamFeedsAnActor(String strategy) {
    var seen = new ArrayList<Integer>();
    var actor = builder(strategy).newActor((Integer i) -> {
      seen.add(i);
    });

    try (var publisher = new SubmissionPublisher<Integer>()) {
      publisher.subscribe(Flows.subscriber(actor, 3));
      for (int i = 0; i < 100; i++) publisher.submit(i);
    }
    Patience.ended(actor::waitForExit);

    assertEquals(IntStream.range(0, 100).boxed().toList(), seen);
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void aSequenceIsPublished(String strategy) {
    var before = BlockBuilder.of(ActorSystem.anonymous()).strategy();
    var seen = new ArrayList<Integer>();
    var actor = scope.anonymous().newActor((Integer i) -> {
      seen.add(i);
    });
    ActorSystem.setDefaultStrategy(Variants.STRATEGIES.get(strategy));
    try {
      Flows.publisher(IntStream.range(0, 1_000).boxed().toList()).subscribe(Flows.subscriber(actor, 7));
    } finally {
      ActorSystem.setDefaultStrategy(before);
    }
    Patience.ended(actor::waitForExit);

    assertEquals(IntStream.range(0, 1_000).boxed().toList(), seen);
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void askAllAsksEachActor(String strategy) {
    var squares =
        IntStream.range(0, 5).mapToObj(i -> builder(strategy).newActorWithReturn((Integer n) -> n * i)).toList();

    var all = Flows.askAll(squares, 10, Patience.LONG);
    var first = Flows.askFirst(squares, 10, Patience.LONG);

    assertEquals(List.of(0, 10, 20, 30, 40), all);
    assertEquals(0, first % 10);
    squares.forEach(ActorWithReturn::close);
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void lateActorIsNamedInTimeout(String strategy) {
    // the asking thread itself would be late
    if (Variants.STRATEGIES.get(strategy) == Strategy.CALLER) return;
    var gate = new Gate();
    var late = builder(strategy).newActorWithReturn((Integer n) -> {
      gate.passDeaf();
      return n;
    });

    var thrown = assertThrows(AskTimeoutException.class, () -> Flows.askAll(List.of(late), 1, Duration.ofMillis(1)));

    assertEquals(Duration.ofMillis(1), thrown.waited());
    gate.open();
    late.close();
  }
}
