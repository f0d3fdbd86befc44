package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.flow.MapReduce;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;

/**
 * Counts words, an actor per text, eight at a time. Results are folded in the order of the texts.
 */
class MapReduceExample {
  private static Map<String, Integer> count(String text) {
    var words = new TreeMap<String, Integer>();
    for (var word : text.split(" ")) words.merge(word, 1, Integer::sum);
    return words;
  }

  private static Map<String, Integer> add(Map<String, Integer> left, Map<String, Integer> right) {
    var both = new TreeMap<>(left);
    right.forEach((word, times) -> both.merge(word, times, Integer::sum));
    return both;
  }

  public static void main(String[] args) {
    var texts = List.of("to be or not to be", "that is the question", "to sleep to dream");

    var words =
        MapReduce.start(ActorSystem.anonymous(), 8, texts, MapReduceExample::count, Map.of(), MapReduceExample::add);
    System.out.println(words.join());

    // a failure reaches the caller, so it needs no log
    var silent = ActorSystem.anonymous().onFailure(FailurePolicy.stop().withoutLog());
    var sum = MapReduce.start(silent, 8, List.of("1", "2", "three"), Integer::parseInt, 0, Integer::sum);
    try {
      sum.join();
    } catch (CompletionException failed) { // the first failure ends the whole run
      System.out.println(failed.getCause().getMessage());
    }
  }
}
