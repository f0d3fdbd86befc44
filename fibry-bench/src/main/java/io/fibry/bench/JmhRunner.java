package io.fibry.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.format.ResultFormatFactory;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.BenchmarkList;
import org.openjdk.jmh.runner.BenchmarkListEntry;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Runs JMH questions: {@code JmhRunner folder all|question [options of JMH]}. The sides take turns,
 * one fork each in each of {@code -f} rounds, because a machine has good and bad minutes. Writes a
 * JSON file for each question. A question that fails leaves no file, and the exit code is 1.
 */
public final class JmhRunner {
  private static final String ALL = "all";
  private static final int FORKS = 3;

  private JmhRunner() {}

  public static void main(String[] args) throws Exception {
    var folder = Files.createDirectories(Path.of(args[0]));
    var options = new CommandLineOptions(List.of(args).subList(2, args.length).toArray(String[]::new));
    var questions =
        questions(args[1].equals(ALL) ? options.getIncludes() : List.of("\\." + Pattern.quote(args[1]) + "\\."),
            options.getExcludes());
    if (questions.isEmpty())
      throw new IllegalArgumentException("no question '" + args[1] + "'; there are " + questions(List.of(), List.of()));
    var failed = new ArrayList<String>();
    for (var question : questions) {
      if (!run(question, folder, options)) failed.add(question);
    }
    if (!failed.isEmpty()) System.err.println("FAILED: " + failed);
    // threads of peers may be alive
    System.exit(failed.isEmpty() ? 0 : 1);
  }

  /** The classes with a benchmark that matches. */
  static List<String> questions(List<String> includes, List<String> excludes) {
    var quiet = OutputFormatFactory.createFormatInstance(System.out, VerboseMode.SILENT);
    var names = new TreeSet<String>();
    for (BenchmarkListEntry benchmark : BenchmarkList.defaultList().find(quiet, includes, excludes))
      names.add(benchmark.getUserClassQName().replaceAll(".*\\.", ""));
    return List.copyOf(names);
  }

  private static boolean run(String question, Path folder, CommandLineOptions options) throws IOException {
    var results = folder.resolve(question + ".json");
    Files.deleteIfExists(results); // no old result must look like a new one
    // an include would be added to those of the parent, so all others are excluded
    var others = "^(?!.*\\." + question + "\\.)";
    int forks = options.getForkCount().orElse(FORKS);
    var oneFork =
        new OptionsBuilder().parent(options).exclude(others).shouldFailOnError(true).forks(Math.min(1, forks)).build();
    var all = new LinkedHashMap<String, RunResult>();
    try {
      for (int round = 1; round <= Math.max(1, forks); round++) {
        System.out.println("\n== " + question + ", round " + round + " of " + Math.max(1, forks));
        for (var result : new Runner(oneFork).run()) all.merge(result.getParams().id(), result, JmhRunner::merged);
      }
    } catch (RunnerException failed) {
      failed.printStackTrace();
      return false;
    }
    ResultFormatFactory.getInstance(ResultFormatType.JSON, results.toString()).writeOut(all.values());
    return true;
  }

  private static RunResult merged(RunResult before, RunResult now) {
    var forks = new ArrayList<>(before.getBenchmarkResults());
    forks.addAll(now.getBenchmarkResults());
    return new RunResult(before.getParams(), forks);
  }
}
