package io.fibry.bench.savina;

import java.util.List;
import java.util.Locale;

/** A whole program, written once per side; all sides must come to this result. */
record Program(String name, String size, long result, List<Side> sides) {

  /** One way to write it. */
  record Side(String name, Body way) {}

  /** Starts all that takes part, on a virtual thread; one of them tells the round the result. */
  interface Body {
    void start(Round round) throws Exception;
  }

  static Program of(String name, String size, long result, Side... sides) {
    return new Program(name, size, result, List.of(sides));
  }

  /** So many of these, as people write it. */
  static String size(long count, String what) {
    return String.format(Locale.ROOT, "%,d %s", count, what);
  }

  /**
   * Runs it once, from the first actor made to the last message processed; what is left behind is
   * cleared away after that.
   */
  long nanos(Side side) throws Exception {
    try (var round = new Round()) {
      long start = System.nanoTime();
      round.start(() -> side.way.start(round));
      long got = round.result();
      if (got != result) throw new IllegalStateException(
          "the result of " + name + " on " + side.name + " is " + got + ", not " + result);
      return round.ended() - start;
    }
  }
}
