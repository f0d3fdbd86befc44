package io.fibry.flow;

import java.util.Objects;
import java.util.TreeMap;
import java.util.function.BinaryOperator;

/**
 * Folds numbered results that arrive in any order. Two neighbors are folded as soon as both have
 * arrived. With n gaps between the arrived results, at most n + 1 values are stored. Not
 * thread-safe.
 */
final class OrderedFold<R> {
  private record Range<R>(long end, R value) {} // `end` is exclusive

  // the key is the first number of the range; adjacent ranges are merged
  private final TreeMap<Long, Range<R>> ranges = new TreeMap<>();
  private final BinaryOperator<R> reduce;

  OrderedFold(R zero, BinaryOperator<R> reduce) {
    this.reduce = reduce;
    ranges.put(0L, new Range<>(0, zero));
  }

  void add(long number, R result) {
    long firstNumber = number;
    long end = number + 1;
    var leftEntry = ranges.floorEntry(number);
    if (leftEntry.getValue().end == number) {
      firstNumber = leftEntry.getKey();
      result = fold(leftEntry.getValue().value, result);
    }
    var rightRange = ranges.remove(end);
    if (rightRange != null) {
      end = rightRange.end;
      result = fold(result, rightRange.value);
    }
    ranges.put(firstNumber, new Range<>(end, result));
  }

  private R fold(R left, R right) {
    return Objects.requireNonNull(reduce.apply(left, right), "reduce answered null; let it answer a result");
  }

  R value() {
    return ranges.firstEntry().getValue().value;
  }
}
