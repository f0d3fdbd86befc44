package io.fibry.bench.savina;

import java.util.List;
import java.util.Locale;
import java.util.Set;

/** A whole program, written once for each side. Every side must compute {@code result}. */
record SavinaProgram(String name, String size, long result, List<ProgramSide> sides) {

  private static final String ON_CARRIERS = "-carriers";
  private static final Set<String> SIDES_ON_CARRIERS = Set.of("fibry", "fibry-messages", "fibry-inline", "hand");

  record ProgramSide(String name, Body body) {}

  /** Starts the actors; called on a virtual thread. An actor reports the result to the round. */
  interface Body {
    void start(Round round) throws Exception;
  }

  static SavinaProgram of(String name, String size, long result, ProgramSide... sides) {
    return new SavinaProgram(name, size, result, List.of(sides));
  }

  /**
   * Returns the sides of Fibry on its default strategy, and the side that is written by hand.
   * {@link #ON_CARRIERS} is appended to their names, because they are meant for a process whose
   * fibers run on carriers. The body then runs on the carriers, too, as Pekko's runs on its
   * dispatcher.
   */
  SavinaProgram onCarriers() {
    return new SavinaProgram(name, size, result, sides.stream().filter(side -> SIDES_ON_CARRIERS.contains(side.name))
        .map(side -> new ProgramSide(side.name + ON_CARRIERS,
            round -> round.startBesideActors(() -> side.body.start(round))))
        .toList());
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
