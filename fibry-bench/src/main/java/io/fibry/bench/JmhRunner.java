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
 * Asks the questions of JMH, one after another, and leaves the answers to each as JSON:
 * {@code JmhRunner folder all|question [anything JMH understands]}. The sides of a question take turns,
 * a fork each, as many rounds as there are forks ({@code -f}): a machine has good and bad minutes.
 * A benchmark that fails ends its question, which has no answers then, and the exit code is 1 when
 * all are through.
 */
public final class JmhRunner {
  private static final String ALL = "all";
  private static final int FORKS = 3;

  private JmhRunner() {}

  /**
   * Asks.
   *
   * @param args the folder of the answers; the question, or {@code all}; options of JMH
   * @throws Exception if an option makes no sense, or a file cannot be written
   */
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
      if (!ask(question, folder, options)) failed.add(question);
    }
    if (!failed.isEmpty()) System.err.println("NOT ANSWERED: " + failed);
    // the threads of peers would keep it, where nothing was forked
    System.exit(failed.isEmpty() ? 0 : 1);
  }

  /** The names of the classes that have a benchmark that matches. */
  static List<String> questions(List<String> includes, List<String> excludes) {
    var quiet = OutputFormatFactory.createFormatInstance(System.out, VerboseMode.SILENT);
    var names = new TreeSet<String>();
    for (BenchmarkListEntry benchmark : BenchmarkList.defaultList().find(quiet, includes, excludes))
      names.add(benchmark.getUserClassQName().replaceAll(".*\\.", ""));
    return List.copyOf(names);
  }

  private static boolean ask(String question, Path folder, CommandLineOptions options) throws IOException {
    var answers = folder.resolve(question + ".json");
    Files.deleteIfExists(answers); // or those of yesterday would stand for today's
    // JMH adds includes to those of the parent, so all but one are excluded
    var others = "^(?!.*\\." + question + "\\.)";
    int forks = options.getForkCount().orElse(FORKS);
    var ask =
        new OptionsBuilder().parent(options).exclude(others).shouldFailOnError(true).forks(Math.min(1, forks)).build();
    var all = new LinkedHashMap<String, RunResult>();
    try {
      for (int round = 1; round <= Math.max(1, forks); round++) {
        System.out.println("\n== " + question + ", round " + round + " of " + Math.max(1, forks));
        for (var result : new Runner(ask).run()) all.merge(result.getParams().id(), result, JmhRunner::together);
      }
    } catch (RunnerException failed) {
      failed.printStackTrace();
      return false;
    }
    ResultFormatFactory.getInstance(ResultFormatType.JSON, answers.toString()).writeOut(all.values());
    return true;
  }

  private static RunResult together(RunResult before, RunResult now) {
    var forks = new ArrayList<>(before.getBenchmarkResults());
    forks.addAll(now.getBenchmarkResults());
    return new RunResult(before.getParams(), forks);
  }
}
