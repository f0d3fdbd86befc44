package io.fibry.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.AskTimeoutException;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.engine.scope.Scopes;
import io.fibry.spi.BlockBuilder;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
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

/**
 * Tests generators, map-reduces, Reactive Streams bridges and asks of several actors on every
 * strategy.
 */
class FlowContractTest {
  private final RecordedLetters letters = new RecordedLetters();
  private final ActorScope scope = ActorSystem.openScope("flows", o -> o.withDeadLetterListener(letters));

  static Set<String> strategies() {
    return Variants.STRATEGIES.keySet();
  }

  private ActorBuilder<Object> builder(String strategy) {
    return scope.anonymous().strategy(Variants.STRATEGIES.get(strategy)).onFailure(FailurePolicy.resume().withoutLog());
  }

  @AfterEach
  void awaitActorsAndCloseScope() {
    Gate.openAll();
    Scopes.awaitNoActors(scope);
    assertEquals(List.of(), letters.messages(), "dead letters");
    scope.close();
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void generatorYieldsAllElements(String strategy) {
    for (int bufferSize : new int[] {1, 10, 1_000}) {
      Generator<Integer> generator = Generator.of(builder(strategy), bufferSize,
          out -> IntStream.range(0, 300).forEach(out::yield), out -> IntStream.range(300, 600).forEach(out::yield));

      assertEquals(IntStream.range(0, 600).boxed().toList(), generator.stream().sorted().toList());
    }
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void failureOfProducerReachesReader(String strategy) {
    var failure = new IOException("no more");
    var elements = new ArrayList<Integer>();
    Generator<Integer> generator = Generator.of(builder(strategy), 2, out -> {
      for (int i = 0; i < 10; i++) out.yield(i);
      throw failure;
    });

    var thrown = assertThrows(IOException.class, () -> generator.forEach(elements::add));

    assertSame(failure, thrown);
    assertEquals(10, elements.size());
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void closedIterationEndsItsProducers(String strategy) {
    Generator<Integer> generator = Generator.of(builder(strategy), 2, out -> {
      for (int i = 0;; i++) out.yield(i);
    });

    try (var iterator = generator.iterator()) {
      assertEquals(0, iterator.next());
    }
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void mapReduceReducesAllItemsInOrder(String strategy) {
    var items = IntStream.range(0, 200).boxed().toList();

    var text = MapReduce.start(builder(strategy), 4, items, i -> "" + (char) ('a' + i % 26), "", String::concat);

    assertEquals(items.stream().map(i -> "" + (char) ('a' + i % 26)).reduce("", String::concat), Patience.value(text));
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void failureOfOneItemFailsMapReduceOfEndlessItems(String strategy) {
    var failure = new IOException("item 13");
    Iterable<Integer> endlessItems = () -> IntStream.iterate(0, i -> i + 1).iterator();

    var sum = MapReduce.start(builder(strategy), 3, endlessItems, i -> {
      if (i == 13) throw failure;
      return i;
    }, 0, Integer::sum);

    assertSame(failure, Patience.failure(sum));
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void streamSendsAllElementsToActor(String strategy) {
    var received = new ArrayList<Integer>();
    var actor = builder(strategy).newActor((Integer i) -> {
      received.add(i);
    });

    try (var publisher = new SubmissionPublisher<Integer>()) {
      publisher.subscribe(FlowBridges.subscriber(actor, 3));
      for (int i = 0; i < 100; i++) publisher.submit(i);
    }
    Patience.awaitEnd(actor::waitForExit);

    assertEquals(IntStream.range(0, 100).boxed().toList(), received);
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void publisherSendsSequenceToActorInOrder(String strategy) {
    var defaultStrategy = BlockBuilder.of(ActorSystem.anonymous()).strategy();
    var received = new ArrayList<Integer>();
    var actor = scope.anonymous().newActor((Integer i) -> {
      received.add(i);
    });
    ActorSystem.setDefaultStrategy(Variants.STRATEGIES.get(strategy));
    try {
      FlowBridges.publisher(IntStream.range(0, 1_000).boxed().toList()).subscribe(FlowBridges.subscriber(actor, 7));
    } finally {
      ActorSystem.setDefaultStrategy(defaultStrategy);
    }
    Patience.awaitEnd(actor::waitForExit);

    assertEquals(IntStream.range(0, 1_000).boxed().toList(), received);
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void askAllReturnsAnswersInOrderOfActors(String strategy) {
    var actors =
        IntStream.range(0, 5).mapToObj(i -> builder(strategy).newActorWithReturn((Integer n) -> n * i)).toList();

    var answers = MultiAsk.askAll(actors, 10, Patience.LONG);

    assertEquals(List.of(0, 10, 20, 30, 40), answers);
    actors.forEach(ActorWithReturn::close);
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void askFirstReturnsAnswerOfOneActor(String strategy) {
    var actors =
        IntStream.range(0, 5).mapToObj(i -> builder(strategy).newActorWithReturn((Integer n) -> n + i)).toList();

    int firstAnswer = MultiAsk.askFirst(actors, 10, Patience.LONG);

    assertTrue(firstAnswer >= 10 && firstAnswer < 15, () -> "answer " + firstAnswer);
    actors.forEach(ActorWithReturn::close);
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void askAllTimesOutWhenActorIsLate(String strategy) {
    // on CALLER the asking thread itself would wait at the gate, and the ask could not time out
    if (Variants.STRATEGIES.get(strategy) == Strategy.CALLER) return;
    var gate = new Gate();
    var lateActor = builder(strategy).newActorWithReturn((Integer n) -> {
      gate.passUninterruptibly();
      return n;
    });

    var thrown =
        assertThrows(AskTimeoutException.class, () -> MultiAsk.askAll(List.of(lateActor), 1, Duration.ofMillis(1)));

    assertEquals(Duration.ofMillis(1), thrown.limit());
    gate.open();
    lateActor.close();
  }
}
