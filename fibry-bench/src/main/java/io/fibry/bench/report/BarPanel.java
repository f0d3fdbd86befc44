package io.fibry.bench.report;

import io.fibry.bench.report.Svg.Point;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A panel with a bar for each row. Left of a bar are the name of its side (a variant that the
 * benchmark compares) and, below the name, the description of the side.
 */
record BarPanel(Result result, List<ResultRow> rows) implements Chart.Panel {
  private static final int ROW_HEIGHT = 34;
  private static final int BAR_HEIGHT = 18;
  private static final int LEGEND_HEIGHT = 34;
  private static final int AXIS_HEIGHT = 42; // labels of the ticks and of the axis
  private static final int VALUE_WIDTH = 64; // of the space right of the longest bar, for its value

  private static final Map<String, String> LEGEND = legend(); // CSS class of a bar -> text

  private static Map<String, String> legend() {
    var legend = new LinkedHashMap<String, String>();
    legend.put("bar base", "Fibry, with which the others are compared");
    legend.put("bar ours", "Fibry in other forms");
    legend.put("bar others", "others");
    legend.put("hollow others", "references, which promise less");
    return legend;
  }

  @Override
  public double draw(Svg svg, double top) {
    drawLegend(svg, top + LEGEND_HEIGHT - BAR_HEIGHT / 2.0);
    double bottom = top + LEGEND_HEIGHT + rows.size() * ROW_HEIGHT;
    var axis = Axis.ofValues(rows);
    for (double tick : axis.ticks()) drawTick(svg, xOf(axis, tick), top + LEGEND_HEIGHT, bottom, Axis.label(tick));
    for (int i = 0; i < rows.size(); i++) drawRow(svg, axis, rows.get(i), top + LEGEND_HEIGHT + i * ROW_HEIGHT);
    svg.text("text middle", (plotLeft() + plotRight()) / 2, bottom + 34, Chart.label(rows, axis));
    return bottom + AXIS_HEIGHT;
  }

  private void drawLegend(Svg svg, double y) {
    var usedClasses = rows.stream().map(this::cssClass).distinct().toList();
    double x = Svg.MARGIN;
    for (var entry : LEGEND.entrySet()) if (usedClasses.contains(entry.getKey())) {
      svg.rectangle(entry.getKey(), x, y - 9, 10, 10).text("words", x + 15, y, entry.getValue());
      x += 35 + Svg.width(entry.getValue(), 11);
    }
  }

  private String cssClass(ResultRow row) {
    return switch (result.side(row).owner()) {
      case OURS -> result.comparison().isBase(row) ? "bar base" : "bar ours";
      case OTHERS -> "bar others";
      case REFERENCE -> "hollow others";
    };
  }

  private static void drawTick(Svg svg, double x, double top, double bottom, String label) {
    svg.line("grid", List.of(new Point(x, top), new Point(x, bottom))).text("words middle", x, bottom + 15, label);
  }

  private void drawRow(Svg svg, Axis axis, ResultRow row, double top) {
    double barEnd = xOf(axis, row.median());
    svg.text("text", Svg.MARGIN, top + 15, row.side()).text("words", Svg.MARGIN, top + 28, description(row))
        .rectangle(cssClass(row), plotLeft(), top + 8, barEnd - plotLeft(), BAR_HEIGHT)
        .text("text", barEnd + 6, top + 21, ResultRow.readable(row.median()));
  }

  private String description(ResultRow row) {
    String text = result.side(row).description();
    return row.size() == 0 ? text
        : text + String.format(Locale.ROOT, "; %,d %s", row.size(), result.comparison().sizeNoun());
  }

  private double plotLeft() {
    return Svg.MARGIN * 2 + rows.stream()
        .mapToDouble(row -> Math.max(Svg.width(row.side(), 13), Svg.width(description(row), 11))).max().orElseThrow();
  }

  private static double plotRight() {
    return Svg.WIDTH - Svg.MARGIN - VALUE_WIDTH;
  }

  private double xOf(Axis axis, double value) {
    return plotLeft() + axis.position(value) * (plotRight() - plotLeft());
  }
}
