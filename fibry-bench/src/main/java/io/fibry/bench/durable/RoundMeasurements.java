package io.fibry.bench.durable;

import io.fibry.bench.report.ResultRow;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The results of one side of a question, from one process.
 *
 * @param size the measured size, such as a number of threads; 0 if the question has no sizes
 * @param rounds the result of each round, in {@code unit}
 */
record RoundMeasurements(String side, String unit, long size, List<Double> rounds) {
  private static final String SEPARATOR = "\t";

  static RoundMeasurements of(String side, String unit, Double... rounds) {
    return new RoundMeasurements(side, unit, 0, List.of(rounds));
  }

  /** Returns these results as a line for the parent process, which {@link #parse} parses. */
  String toLine() {
    return String.join(SEPARATOR, side, unit, Long.toString(size),
        rounds.stream().map(Object::toString).collect(Collectors.joining(" ")));
  }

  static RoundMeasurements parse(String line) {
    var fields = line.split(SEPARATOR);
    return new RoundMeasurements(fields[0], fields[1], Long.parseLong(fields[2]),
        Arrays.stream(fields[3].split(" ")).map(Double::valueOf).toList());
  }

  double median() {
    return ResultRow.median(rounds.stream().mapToDouble(Double::doubleValue).sorted().toArray());
  }
}
