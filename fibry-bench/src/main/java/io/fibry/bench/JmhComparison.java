package io.fibry.bench;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Compares two result files of JMH: {@code JmhComparison old.json new.json}. Worse is a figure that
 * lost more than a tenth, and more than both errors; if one did, the exit code is 1.
 */
public final class JmhComparison {
  private static final double TENTH = 1.1;

  private JmhComparison() {}

  /** A figure, and its error at 99.9 %; NaN if it was measured once. */
  private record Score(double value, double error, String unit, boolean lowerIsBetter) {
    static Score of(Config result) {
      var metric = result.getConfig("primaryMetric");
      return new Score(metric.getDouble("score"), Double.parseDouble(metric.getString("scoreError")),
          metric.getString("scoreUnit"), !result.getString("mode").equals("thrpt"));
    }

    double uncertain() {
      return Double.isNaN(error) ? 0 : error;
    }

    /** The ratio of the costs; above 1, this one costs more. */
    double costOver(Score old) {
      return lowerIsBetter ? value / old.value : old.value / value;
    }

    boolean differsFrom(Score old) {
      return Math.abs(value - old.value) > uncertain() + old.uncertain();
    }
  }

  public static void main(String[] files) throws IOException {
    if (files.length != 2) throw new IllegalArgumentException("give two files: the old results and the new ones");
    System.exit(worse(Path.of(files[0]), Path.of(files[1]), System.out) ? 1 : 0);
  }

  static boolean worse(Path oldFile, Path newFile, PrintStream out) throws IOException {
    var before = scores(oldFile);
    var after = scores(newFile);
    int worse = 0;
    for (var entry : after.entrySet()) {
      var old = before.remove(entry.getKey());
      if (old == null) out.printf("%-7s %s%n", "new", entry.getKey());
      else if (compare(entry.getKey(), old, entry.getValue(), out)) worse++;
    }
    before.keySet().forEach(name -> out.printf("%-7s %s%n", "gone", name));
    out.println(worse == 0 ? "nothing became worse" : worse + " became worse");
    return worse > 0;
  }

  private static boolean compare(String name, Score old, Score now, PrintStream out) {
    double cost = now.costOver(old);
    boolean differs = now.differsFrom(old);
    boolean worse = differs && cost > TENTH;
    out.printf(Locale.ROOT, "%-7s %6.3f  %12.2f ±%9.2f -> %12.2f ±%9.2f %s  %s%n",
        worse ? "WORSE" : differs && cost < 1 / TENTH ? "better" : "same", now.value / old.value, old.value,
        old.error, now.value, now.error, now.unit, name);
    return worse;
  }

  /**
   * Returns the scores by benchmark and parameters. JMH's file is an array, for which HOCON needs a
   * name.
   */
  private static Map<String, Score> scores(Path file) throws IOException {
    var scores = new LinkedHashMap<String, Score>();
    for (var result : ConfigFactory.parseString("results:" + Files.readString(file)).getConfigList("results")) {
      var parameters = new TreeMap<String, Object>();
      if (result.hasPath("params")) parameters.putAll(result.getObject("params").unwrapped());
      scores.put(result.getString("benchmark").replaceAll(".*\\.(\\w+\\.\\w+)$", "$1")
          + (parameters.isEmpty() ? "" : " " + parameters), Score.of(result));
    }
    return scores;
  }
}
