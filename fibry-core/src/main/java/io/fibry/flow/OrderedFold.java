package io.fibry.flow;

import java.util.Objects;
import java.util.TreeMap;
import java.util.function.BinaryOperator;

/**
 * Folds numbered results that come in any order: two neighbors as soon as both have come. With n
 * gaps it holds at most n + 1 values. Not thread-safe.
 */
final class OrderedFold<R> {
  private record Range<R>(long end, R value) {} // `end` is exclusive

  private final TreeMap<Long, Range<R>> ranges = new TreeMap<>(); // by first number; no two touch
  private final BinaryOperator<R> reduce;

  OrderedFold(R zero, BinaryOperator<R> reduce) {
    this.reduce = reduce;
    ranges.put(0L, new Range<>(0, zero));
  }

  void add(long number, R result) {
    long from = number;
    long end = number + 1;
    var before = ranges.floorEntry(number);
    if (before.getValue().end == number) {
      from = before.getKey();
      result = fold(before.getValue().value, result);
    }
    var after = ranges.remove(end);
    if (after != null) {
      end = after.end;
      result = fold(result, after.value);
    }
    ranges.put(from, new Range<>(end, result));
  }

  private R fold(R left, R right) {
    return Objects.requireNonNull(reduce.apply(left, right), "reduce answered null; let it answer a result");
  }

  R value() {
    return ranges.firstEntry().getValue().value;
  }
}
