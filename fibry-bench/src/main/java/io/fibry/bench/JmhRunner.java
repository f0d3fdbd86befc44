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
 * Runs questions, which are classes with JMH benchmarks: {@code JmhRunner folder all|question
 * [options of JMH]}. The option {@code -f} sets the number of rounds. Each round runs one fork of
 * every side, so that a change of the machine's speed affects all sides. Writes a JSON file for
 * each question. A question that fails leaves no file, and the exit code is 1.
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
    var failedQuestions = new ArrayList<String>();
    for (var question : questions) {
      if (!run(question, folder, options)) failedQuestions.add(question);
    }
    if (!failedQuestions.isEmpty()) System.err.println("FAILED: " + failedQuestions);
    // ends the process although threads of peers may be alive
    System.exit(failedQuestions.isEmpty() ? 0 : 1);
  }

  /** Returns the simple names of the classes that have a matching benchmark. */
  static List<String> questions(List<String> includes, List<String> excludes) {
    var silentFormat = OutputFormatFactory.createFormatInstance(System.out, VerboseMode.SILENT);
    var names = new TreeSet<String>();
    for (BenchmarkListEntry benchmark : BenchmarkList.defaultList().find(silentFormat, includes, excludes))
      names.add(benchmark.getUserClassQName().replaceAll(".*\\.", ""));
    return List.copyOf(names);
  }

  private static boolean run(String question, Path folder, CommandLineOptions options) throws IOException {
    var resultFile = folder.resolve(question + ".json");
    Files.deleteIfExists(resultFile); // so that an old result is not taken for a new one
    // an include would be added to the includes of the parent options, so all other questions are
    // excluded instead
    var otherQuestions = "^(?!.*\\." + question + "\\.)";
    int forks = options.getForkCount().orElse(FORKS);
    var oneFork =
        new OptionsBuilder().parent(options).exclude(otherQuestions)
            .jvmArgsPrepend("-Dfibry.carriers=off").shouldFailOnError(true).forks(Math.min(1, forks)).build();
    var resultsById = new LinkedHashMap<String, RunResult>();
    try {
      for (int round = 1; round <= Math.max(1, forks); round++) {
        System.out.println("\n== " + question + ", round " + round + " of " + Math.max(1, forks));
        for (var result : new Runner(oneFork).run())
          resultsById.merge(result.getParams().id(), result, JmhRunner::merged);
      }
    } catch (RunnerException failure) {
      failure.printStackTrace();
      return false;
    }
    ResultFormatFactory.getInstance(ResultFormatType.JSON, resultFile.toString()).writeOut(resultsById.values());
    return true;
  }

  private static RunResult merged(RunResult earlier, RunResult later) {
    var forks = new ArrayList<>(earlier.getBenchmarkResults());
    forks.addAll(later.getBenchmarkResults());
    return new RunResult(earlier.getParams(), forks);
  }
}
