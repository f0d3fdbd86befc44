package io.fibry.bench.report;

import io.fibry.bench.report.Svg.Point;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A panel with a bar for each row. What a side is stands below its name. */
record BarPanel(Result result, List<ResultRow> rows) implements Chart.Panel {
  private static final int ROW = 34;
  private static final int BAR = 18;
  private static final int KEY = 34;
  private static final int BELOW = 42; // ticks, and what they count
  private static final int FIGURE = 64; // its room behind the longest bar

  private static final Map<String, String> KINDS = kinds();

  private static Map<String, String> kinds() {
    var kinds = new LinkedHashMap<String, String>();
    kinds.put("bar base", "Fibry, with which the others are compared");
    kinds.put("bar ours", "Fibry in other forms");
    kinds.put("bar others", "others");
    kinds.put("hollow others", "references, which promise less");
    return kinds;
  }

  @Override
  public double draw(Svg svg, double top) {
    drawKey(svg, top + KEY - BAR / 2.0);
    double bottom = top + KEY + rows.size() * ROW;
    var axis = Axis.ofFigures(rows);
    for (double tick : axis.ticks()) drawTick(svg, at(axis, tick), top + KEY, bottom, Axis.label(tick));
    for (int i = 0; i < rows.size(); i++) drawRow(svg, axis, rows.get(i), top + KEY + i * ROW);
    svg.text("text middle", (left() + right()) / 2, bottom + 34, Chart.label(rows, axis));
    return bottom + BELOW;
  }

  private void drawKey(Svg svg, double y) {
    var present = rows.stream().map(this::kind).distinct().toList();
    double x = Svg.MARGIN;
    for (var kind : KINDS.entrySet()) if (present.contains(kind.getKey())) {
      svg.rectangle(kind.getKey(), x, y - 9, 10, 10).text("words", x + 15, y, kind.getValue());
      x += 35 + Svg.width(kind.getValue(), 11);
    }
  }

  private String kind(ResultRow row) {
    return switch (result.side(row).whose()) {
      case OURS -> result.comparison().isBase(row) ? "bar base" : "bar ours";
      case OTHERS -> "bar others";
      case REFERENCE -> "hollow others";
    };
  }

  private static void drawTick(Svg svg, double x, double top, double bottom, String label) {
    svg.line("grid", List.of(new Point(x, top), new Point(x, bottom))).text("words middle", x, bottom + 15, label);
  }

  private void drawRow(Svg svg, Axis axis, ResultRow row, double top) {
    double end = at(axis, row.median());
    svg.text("text", Svg.MARGIN, top + 15, row.side()).text("words", Svg.MARGIN, top + 28, words(row))
        .rectangle(kind(row), left(), top + 8, end - left(), BAR)
        .text("text", end + 6, top + 21, ResultRow.readable(row.median()));
  }

  private String words(ResultRow row) {
    String words = result.side(row).words();
    return row.size() == 0 ? words
        : words + String.format(Locale.ROOT, "; %,d %s", row.size(), result.comparison().sizes());
  }

  private double left() {
    return Svg.MARGIN * 2 + rows.stream()
        .mapToDouble(row -> Math.max(Svg.width(row.side(), 13), Svg.width(words(row), 11))).max().orElseThrow();
  }

  private static double right() {
    return Svg.WIDTH - Svg.MARGIN - FIGURE;
  }

  private double at(Axis axis, double figure) {
    return left() + axis.place(figure) * (right() - left());
  }
}
