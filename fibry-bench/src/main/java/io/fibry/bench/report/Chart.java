package io.fibry.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A picture of a result: a panel for each unit, with a bar for each figure, or with a line for each
 * side if there are several sizes.
 */
final class Chart {
  private static final int TITLE = 28;
  private static final int GAP = 18; // between panels

  private Chart() {}

  interface Panel {
    /** Returns where it ends. */
    double draw(Svg svg, double top);
  }

  static void write(Result result, Path file) throws IOException {
    Files.writeString(file, svg(result));
  }

  static String svg(Result result) {
    String title = result.comparison().title(result.question());
    var svg = new Svg().text("text title", Svg.MARGIN, TITLE, title);
    double y = TITLE;
    for (var rows : rowsByUnit(result)) y = GAP + panel(result, rows).draw(svg, y);
    return svg.with(title, y);
  }

  private static Panel panel(Result result, List<ResultRow> rows) {
    return rows.stream().map(ResultRow::side).distinct().count() < rows.size() ? new LinePanel(result, rows)
        : new BarPanel(result, rows);
  }

  /** Units that begin with the same word share an axis. */
  private static Iterable<List<ResultRow>> rowsByUnit(Result result) {
    return result.rows().stream().filter(row -> Double.isFinite(row.median()))
        .collect(Collectors.groupingBy(row -> row.unit().split(" ")[0], LinkedHashMap::new, Collectors.toList()))
        .values();
  }

  /** What an axis shows. */
  static String label(List<ResultRow> rows, Axis axis) {
    return unit(rows.getFirst().unit()) + (rows.getFirst().moreIsBetter() ? "; more is better" : "; less is better")
        + (axis.logarithmic() ? "; logarithmic scale" : "");
  }

  private static String unit(String unit) {
    return switch (unit.split(" ")[0]) {
      case "ns", "ns/op" -> "nanoseconds";
      case "us" -> "microseconds";
      case "ms" -> "milliseconds";
      case "s" -> "seconds";
      case "B", "B/op" -> "bytes";
      case "MB" -> "megabytes";
      case "M/s" -> "millions a second";
      case "live" -> "alive at once";
      default -> unit.replace("/s", " a second");
    };
  }
}
