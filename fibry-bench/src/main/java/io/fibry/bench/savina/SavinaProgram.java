package io.fibry.bench.savina;

import java.util.List;
import java.util.Locale;

/** A whole program, written once per side; every side must compute {@code result}. */
record SavinaProgram(String name, String size, long result, List<ProgramSide> sides) {

  record ProgramSide(String name, Body body) {}

  /** Starts the actors, on a virtual thread; one of them tells the round the result. */
  interface Body {
    void start(Round round) throws Exception;
  }

  static SavinaProgram of(String name, String size, long result, ProgramSide... sides) {
    return new SavinaProgram(name, size, result, List.of(sides));
  }

  static String size(long count, String what) {
    return String.format(Locale.ROOT, "%,d %s", count, what);
  }

  /** Measures one run, from the first actor made to the last message handled; then cleans up. */
  long nanos(ProgramSide side) throws Exception {
    try (var round = new Round()) {
      long start = System.nanoTime();
      round.start(() -> side.body.start(round));
      long got = round.result();
      if (got != result) throw new IllegalStateException(
          "the result of " + name + " on " + side.name + " is " + got + ", not " + result);
      return round.ended() - start;
    }
  }
}
