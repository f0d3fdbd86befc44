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
 * Compares two result files of JMH: {@code JmhComparison old.json new.json}. A score became worse
 * if its cost grew by more than a tenth, and the change is larger than the sum of both errors. The
 * exit code is 1 if a score became worse.
 */
public final class JmhComparison {
  private static final double MAX_COST_RATIO = 1.1;

  private JmhComparison() {}

  /**
   * A score, and its error at a confidence of 99.9 %. The error is NaN if the score was measured
   * once.
   */
  private record Score(double value, double error, String unit, boolean isLowerBetter) {
    static Score of(Config result) {
      var metric = result.getConfig("primaryMetric");
      return new Score(metric.getDouble("score"), Double.parseDouble(metric.getString("scoreError")),
          metric.getString("scoreUnit"), !result.getString("mode").equals("thrpt"));
    }

    double errorOrZero() {
      return Double.isNaN(error) ? 0 : error;
    }

    /** Returns the ratio of the two costs; above 1, this score costs more than the old one. */
    double costRatioTo(Score oldScore) {
      return isLowerBetter ? value / oldScore.value : oldScore.value / value;
    }

    boolean differsFrom(Score oldScore) {
      return Math.abs(value - oldScore.value) > errorOrZero() + oldScore.errorOrZero();
    }
  }

  public static void main(String[] files) throws IOException {
    if (files.length != 2) throw new IllegalArgumentException("give two files: the old results and the new ones");
    System.exit(hasWorse(Path.of(files[0]), Path.of(files[1]), System.out) ? 1 : 0);
  }

  static boolean hasWorse(Path oldFile, Path newFile, PrintStream out) throws IOException {
    var oldScores = scores(oldFile);
    var newScores = scores(newFile);
    int worseCount = 0;
    for (var entry : newScores.entrySet()) {
      var oldScore = oldScores.remove(entry.getKey());
      if (oldScore == null) out.printf("%-7s %s%n", "new", entry.getKey());
      else if (compare(entry.getKey(), oldScore, entry.getValue(), out)) worseCount++;
    }
    oldScores.keySet().forEach(name -> out.printf("%-7s %s%n", "gone", name));
    out.println(worseCount == 0 ? "nothing became worse" : worseCount + " became worse");
    return worseCount > 0;
  }

  private static boolean compare(String name, Score oldScore, Score newScore, PrintStream out) {
    double costRatio = newScore.costRatioTo(oldScore);
    boolean isDifferent = newScore.differsFrom(oldScore);
    boolean isWorse = isDifferent && costRatio > MAX_COST_RATIO;
    out.printf(Locale.ROOT, "%-7s %6.3f  %12.2f ±%9.2f -> %12.2f ±%9.2f %s  %s%n",
        isWorse ? "WORSE" : isDifferent && costRatio < 1 / MAX_COST_RATIO ? "better" : "same",
        newScore.value / oldScore.value, oldScore.value, oldScore.error, newScore.value, newScore.error,
        newScore.unit, name);
    return isWorse;
  }

  /**
   * Returns the scores by benchmark, mode and parameters. The keys leave out the usual mode, {@code
   * avgt}. The file is a JSON array, which the parser of HOCON accepts only as the value of a key.
   */
  private static Map<String, Score> scores(Path file) throws IOException {
    var scores = new LinkedHashMap<String, Score>();
    for (var result : ConfigFactory.parseString("results:" + Files.readString(file)).getConfigList("results")) {
      var parameters = new TreeMap<String, Object>();
      if (result.hasPath("params")) parameters.putAll(result.getObject("params").unwrapped());
      String mode = result.getString("mode");
      scores.put(result.getString("benchmark").replaceAll(".*\\.(\\w+\\.\\w+)$", "$1")
          + (mode.equals("avgt") ? "" : " " + mode) + (parameters.isEmpty() ? "" : " " + parameters),
          Score.of(result));
    }
    return scores;
  }
}
