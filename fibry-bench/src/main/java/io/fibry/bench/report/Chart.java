package io.fibry.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Draws the results of a question as SVG. There is a panel for each unit, with a bar for each row,
 * or with a line for each side if a side has several rows.
 */
final class Chart {
  private static final int TITLE_Y = 28;
  private static final int GAP = 18; // between panels

  private Chart() {}

  interface Panel {
    /** Draws the panel from {@code top} on, and returns the y coordinate of its lower end. */
    double draw(Svg svg, double top);
  }

  static void write(Result result, Path file) throws IOException {
    Files.writeString(file, svg(result));
  }

  static String svg(Result result) {
    String title = result.comparison().title(result.question());
    var svg = new Svg().text("text title", Svg.MARGIN, TITLE_Y, title);
    double y = TITLE_Y;
    for (var rows : rowsByUnit(result)) y = GAP + panelOf(result, rows).draw(svg, y);
    return svg.document(title, y);
  }

  private static Panel panelOf(Result result, List<ResultRow> rows) {
    return rows.stream().map(ResultRow::side).distinct().count() < rows.size() ? new LinePanel(result, rows)
        : new BarPanel(result, rows);
  }

  /** Groups rows whose units begin with the same word: they share a panel. */
  private static Iterable<List<ResultRow>> rowsByUnit(Result result) {
    return result.rows().stream().filter(row -> Double.isFinite(row.median()))
        .collect(Collectors.groupingBy(row -> row.unit().split(" ")[0], LinkedHashMap::new, Collectors.toList()))
        .values();
  }

  /** Returns the label of the axis of values. */
  static String label(List<ResultRow> rows, Axis axis) {
    return unitName(rows.getFirst().unit()) + (rows.getFirst().isMoreBetter() ? "; more is better" : "; less is better")
        + (axis.isLogarithmic() ? "; logarithmic scale" : "");
  }

  private static String unitName(String unit) {
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
