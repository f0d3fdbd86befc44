package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.flow.MapReduce;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;

/**
 * Counts words with an actor for each text, at most eight at a time. The results are combined in
 * the order of the texts.
 */
class MapReduceExample {
  private static Map<String, Integer> count(String text) {
    var counts = new TreeMap<String, Integer>();
    for (var word : text.split(" ")) counts.merge(word, 1, Integer::sum);
    return counts;
  }

  private static Map<String, Integer> add(Map<String, Integer> left, Map<String, Integer> right) {
    var sum = new TreeMap<>(left);
    right.forEach((word, count) -> sum.merge(word, count, Integer::sum));
    return sum;
  }

  public static void main(String[] args) {
    var texts = List.of("to be or not to be", "that is the question", "to sleep to dream");

    var counts =
        MapReduce.start(ActorSystem.anonymous(), 8, texts, MapReduceExample::count, Map.of(), MapReduceExample::add);
    System.out.println(counts.join());

    // a failure reaches the caller, so it needs no log
    var silent = ActorSystem.anonymous().onFailure(FailurePolicy.stop().withoutLog());
    var sum = MapReduce.start(silent, 8, List.of("1", "2", "three"), Integer::parseInt, 0, Integer::sum);
    try {
      sum.join();
    } catch (CompletionException failure) { // the first failure ends the whole run
      System.out.println(failure.getCause().getMessage());
    }
  }
}
