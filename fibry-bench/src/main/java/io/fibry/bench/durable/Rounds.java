package io.fibry.bench.durable;

import java.util.ArrayList;
import java.util.List;

/** Measures the sides of a question in turns, in this process. */
final class Rounds {
  private static final int WARM_UP = 8; // compilers take two seconds of each side

  private final List<Side> sides = new ArrayList<>();

  interface Trial {
    double run() throws Exception;
  }

  private record Side(String name, String unit, long size, Trial trial, List<Double> took) {}

  /** How many count, {@code -Drounds}. */
  static int count() {
    return Integer.getInteger("rounds", 9);
  }

  Rounds side(String name, String unit, Trial trial) {
    return side(name, unit, 0, trial);
  }

  Rounds side(String name, String unit, long size, Trial trial) {
    sides.add(new Side(name, unit, size, trial, new ArrayList<>()));
    return this;
  }

  /** Each round begins with another side. */
  List<RoundFigures> run() throws Exception {
    var turns = new ArrayList<>(sides);
    for (int round = -Math.min(WARM_UP, count()); round < count(); round++) {
      for (var side : turns) {
        System.gc(); // no side pays for the garbage of another
        double took = side.trial.run();
        if (round >= 0) side.took.add(took);
      }
      turns.add(turns.removeFirst());
    }
    return sides.stream().map(side -> new RoundFigures(side.name, side.unit, side.size, side.took)).toList();
  }
}
