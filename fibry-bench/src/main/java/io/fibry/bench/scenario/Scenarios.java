package io.fibry.bench.scenario;

import io.fibry.bench.ChildJvm;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Runs whole programs, each in its own JVM. Prints the names of the programs that failed, and exits
 * with 1 if there are any.
 */
public final class Scenarios {

  private record Scenario(String name, Class<?> main, List<String> flags) {}

  private static final List<Scenario> ALL = List.of(
      new Scenario("creation", ActorCreation.class, List.of()),
      new Scenario("live", LiveActors.class, List.of()),
      new Scenario("scoped", ScopedActors.class, List.of()),
      new Scenario("switches", ContextSwitches.class, List.of()),
      new Scenario("messages", MessageRate.class, List.of()),
      new Scenario("blocking", BlockingCalls.class, List.of()),
      new Scenario("delays", DelayedTasks.class, List.of("-Xmx6g")),
      new Scenario("hooks", AsyncHooks.class, List.of()),
      new Scenario("file-reads", FileReads.class, List.of()),
      new Scenario("sql", SqlOverload.class, List.of()),
      new Scenario("slow-calls", SlowCalls.class, List.of()),
      new Scenario("growth", Growth.class, List.of("-Xmx4g")));
  private static final List<String> FORWARDED_PROPERTIES =
      List.of("size", "rounds", "seconds", "heap", "threads", "processors", "results");

  private Scenarios() {}

  /**
   * Runs programs.
   *
   * @param names names of programs, for example {@code creation sql}, also separated by
   *     commas; without names all programs run
   */
  public static void main(String[] names) throws Exception {
    var requestedNames =
        Arrays.stream(names).flatMap(name -> Arrays.stream(name.split(","))).filter(name -> !name.isBlank()).toList();
    var knownNames = ALL.stream().map(Scenario::name).toList();
    var unknownNames = requestedNames.stream().filter(name -> !knownNames.contains(name)).toList();
    if (!unknownNames.isEmpty())
      throw new IllegalArgumentException("unknown scenarios " + unknownNames + "; there are " + knownNames);
    var scenarios = ALL.stream()
        .filter(scenario -> requestedNames.isEmpty() || requestedNames.contains(scenario.name)).toList();
    var failedNames = new ArrayList<String>();
    for (int i = 0; i < scenarios.size(); i++) {
      var scenario = scenarios.get(i);
      System.out.printf("%n== %d of %d: %s%n", i + 1, scenarios.size(), scenario.name);
      long began = System.nanoTime();
      int exit =
          new ProcessBuilder(ChildJvm.command(List.of(), flags(scenario), scenario.main)).inheritIO().start().waitFor();
      System.out.printf("%s after %.0f s%n", exit == 0 ? "done" : "FAILED with exit code " + exit,
          Experiment.secondsSince(began));
      if (exit != 0) failedNames.add(scenario.name);
    }
    System.out.println(failedNames.isEmpty() ? "\nall done" : "\nFAILED: " + failedNames);
    System.exit(failedNames.isEmpty() ? 0 : 1);
  }

  private static List<String> flags(Scenario scenario) {
    var flags = new ArrayList<>(scenario.flags);
    for (var name : FORWARDED_PROPERTIES)
      if (!System.getProperty(name, "").isBlank()) flags.add("-D" + name + "=" + System.getProperty(name));
    return flags;
  }
}
