package io.fibry.bench.durable;

import java.util.ArrayList;
import java.util.List;

/** Measures the sides of a question in turns, in this process. */
final class Rounds {
  private static final int WARM_UP_ROUNDS = 8; // of 0.4 s by default; compiling the code of each side takes two seconds

  private final List<Side> sides = new ArrayList<>();

  interface Trial {
    /** Measures a side once, and returns the result in the unit of the side. */
    double run() throws Exception;
  }

  private record Side(String name, String unit, long size, Trial trial, List<Double> results) {}

  /** Returns the number of rounds after the warm-up: property {@code rounds}, or 9. */
  static int measuredRounds() {
    return Integer.getInteger("rounds", 9);
  }

  Rounds side(String name, String unit, Trial trial) {
    return side(name, unit, 0, trial);
  }

  Rounds side(String name, String unit, long size, Trial trial) {
    sides.add(new Side(name, unit, size, trial, new ArrayList<>()));
    return this;
  }

  /** Returns the results of all rounds after the warm-up. Each round begins with another side. */
  List<RoundMeasurements> run() throws Exception {
    var order = new ArrayList<>(sides);
    for (int round = -Math.min(WARM_UP_ROUNDS, measuredRounds()); round < measuredRounds(); round++) {
      for (var side : order) {
        System.gc(); // no side pays for the garbage of another
        double result = side.trial.run();
        if (round >= 0) side.results.add(result);
      }
      order.add(order.removeFirst());
    }
    return sides.stream().map(side -> new RoundMeasurements(side.name, side.unit, side.size, side.results)).toList();
  }
}
