package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.flow.FlowBridges;
import io.fibry.flow.MultiAsk;
import io.fibry.flow.Generator;
import io.fibry.flow.MapReduce;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.SubmissionPublisher;
import org.junit.jupiter.api.Test;

class GeneratorSnippetsTest {
  private final List<Object> printed = new CopyOnWriteArrayList<>();

  private void print(Object line) {
    printed.add(line);
  }

  @Test
  void generatorYieldsFibonacciNumbersToLoopAndStream() {
    // @start region="generator"
    Generator<Long> fibonacci = Generator.of(ActorSystem.anonymous(), 100, out -> {
      for (long a = 0, b = 1;; b += a, a = b - a) out.yield(a); // waits while the reader is 100 numbers behind
    });

    for (long f : fibonacci) {
      if (f > 10) break; // the producer ends when the iteration is garbage
      print(f);
    }
    try (var numbers = fibonacci.stream()) { // the producer ends here
      print(numbers.limit(10).mapToLong(f -> f).sum());
    }
    // @end

    assertEquals(List.of(0L, 1L, 1L, 2L, 3L, 5L, 8L, 88L), printed);
  }

  @Test
  void mapReduceSumsWordCountsOfTexts() {
    // @start region="mapReduce"
    var texts = List.of("to be", "or not", "to be");
    var words = MapReduce.start(ActorSystem.anonymous(), 8, texts, text -> text.split(" ").length, 0, Integer::sum);

    print(words.join());
    // @end

    assertEquals(List.of(6), printed);
  }

  @Test
  void actorHandlesStreamAndEndsWhenStreamEnds() {
    // @start region="flows"
    var printer = ActorSystem.anonymous().newActor((String line) -> print(line));
    try (var lines = new SubmissionPublisher<String>()) {
      lines.subscribe(FlowBridges.subscriber(printer, 64));
      lines.submit("hello");
    }
    printer.waitForExit(); // the end of the stream ends the printer
    // @end

    assertEquals(List.of("hello"), printed);
  }

  @Test
  void askAllReturnsAnswersInOrderOfActors() {
    // @start region="multiAsk"
    var length = ActorSystem.anonymous().newActorWithReturn((String text) -> text.length());
    var words = ActorSystem.anonymous().newActorWithReturn((String text) -> text.split(" ").length);
    List<Integer> results = MultiAsk.askAll(List.of(length, words), "to be", Duration.ofMinutes(1));
    // @end

    assertEquals(List.of(5, 2), results);
  }
}
