package io.fibry.flow;

import java.util.Objects;
import java.util.TreeMap;
import java.util.function.BinaryOperator;

/**
 * Results that come in any order and are folded in theirs: neighbours as soon as both are there.
 * While n are still to come between those that are there, at most n + 1 are kept. Not thread-safe.
 */
final class OrderedFold<R> {
  /** What lies between two numbers, folded. */
  private record Run<R>(long end, R value) {}

  // by the number of the first; no two of them touch
  private final TreeMap<Long, Run<R>> runs = new TreeMap<>();
  private final BinaryOperator<R> reduce;

  OrderedFold(R zero, BinaryOperator<R> reduce) {
    this.reduce = reduce;
    runs.put(0L, new Run<>(0, zero));
  }

  void add(long number, R result) {
    long from = number;
    long end = number + 1;
    var before = runs.floorEntry(number);
    if (before.getValue().end == number) {
      from = before.getKey();
      result = fold(before.getValue().value, result);
    }
    var behind = runs.remove(end);
    if (behind != null) {
      end = behind.end;
      result = fold(result, behind.value);
    }
    runs.put(from, new Run<>(end, result));
  }

  private R fold(R left, R right) {
    return Objects.requireNonNull(reduce.apply(left, right), "what reduce answered");
  }

  /** All of them, once none is missing. */
  R value() {
    return runs.firstEntry().getValue().value;
  }
}
