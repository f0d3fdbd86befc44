package io.fibry.bench.savina;

import java.util.List;
import java.util.Locale;

/** A whole program, written once for each side. Every side must compute {@code result}. */
record SavinaProgram(String name, String size, long result, List<ProgramSide> sides) {

  record ProgramSide(String name, Body body) {}

  /** Starts the actors; called on a virtual thread. An actor reports the result to the round. */
  interface Body {
    void start(Round round) throws Exception;
  }

  static SavinaProgram of(String name, String size, long result, ProgramSide... sides) {
    return new SavinaProgram(name, size, result, List.of(sides));
  }

  static String size(long count, String noun) {
    return String.format(Locale.ROOT, "%,d %s", count, noun);
  }

  /**
   * Runs the program once, and cleans up. Returns the nanoseconds from the start until the result
   * was reported; throws if the result is wrong.
   */
  long measureNanos(ProgramSide side) throws Exception {
    try (var round = new Round()) {
      long start = System.nanoTime();
      round.start(() -> side.body.start(round));
      long actual = round.result();
      if (actual != result) throw new IllegalStateException(
          "the result of " + name + " on " + side.name + " is " + actual + ", not " + result);
      return round.endTime() - start;
    }
  }
}
