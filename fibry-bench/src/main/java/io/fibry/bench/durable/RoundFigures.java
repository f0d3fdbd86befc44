package io.fibry.bench.durable;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The measurements of one side of a question in the rounds of one process.
 *
 * @param size how many, if the question is asked for several sizes; otherwise 0
 */
record RoundFigures(String side, String unit, long size, List<Double> rounds) {
  private static final String BETWEEN = "\t";

  static RoundFigures of(String side, String unit, Double... rounds) {
    return new RoundFigures(side, unit, 0, List.of(rounds));
  }

  /** For the process that started this one. */
  String line() {
    return String.join(BETWEEN, side, unit, Long.toString(size),
        rounds.stream().map(Object::toString).collect(Collectors.joining(" ")));
  }

  static RoundFigures ofLine(String line) {
    var parts = line.split(BETWEEN);
    return new RoundFigures(parts[0], parts[1], Long.parseLong(parts[2]),
        Arrays.stream(parts[3].split(" ")).map(Double::valueOf).toList());
  }

  double median() {
    return rounds.stream().sorted().toList().get(rounds.size() / 2);
  }
}
