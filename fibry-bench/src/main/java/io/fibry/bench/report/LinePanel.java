package io.fibry.bench.report;

import io.fibry.bench.report.Svg.Point;
import java.util.List;

/** A panel with a line for each side over the sizes, and below it a legend of the sides. */
record LinePanel(Result result, List<ResultRow> rows) implements Chart.Panel {
  private static final int TITLE_HEIGHT = 44;
  private static final int PLANE_HEIGHT = 260;
  private static final int AXIS_HEIGHT = 62; // labels of the ticks and of the axis
  private static final int LEGEND_ROW_HEIGHT = 20;
  private static final int INSET = 40; // from the left and right edge to the first and the last size
  private static final int COLORS = 3;

  @Override
  public double draw(Svg svg, double top) {
    var plane = new Plane(Axis.ofSizes(rows), Axis.ofValues(rows), top + TITLE_HEIGHT);
    plane.draw(svg, Chart.label(rows, plane.values), result.comparison().sizeNoun());
    var sides = rows.stream().map(ResultRow::side).distinct().map(result.comparison()::side).toList();
    for (var side : sides) drawLine(svg, plane, side, cssClass(side, sides));
    double legendTop = top + TITLE_HEIGHT + PLANE_HEIGHT + AXIS_HEIGHT;
    for (int i = 0; i < sides.size(); i++) drawLegendRow(svg, legendTop + i * LEGEND_ROW_HEIGHT, sides.get(i),
        cssClass(sides.get(i), sides));
    return legendTop + (sides.size() - 1) * LEGEND_ROW_HEIGHT;
  }

  /**
   * Returns the CSS class of a line. The dashes of lines differ, because lines may cover each
   * other.
   */
  private static String cssClass(Side side, List<Side> sides) {
    int index = sides.stream().filter(candidate -> candidate.isOurs() == side.isOurs()).toList().indexOf(side) % COLORS;
    return (side.isOurs() ? "ours" : "others") + index;
  }

  private void drawLine(Svg svg, Plane plane, Side side, String cssClass) {
    var points = rows.stream().filter(row -> row.side().equals(side.name())).map(plane::pointOf).toList();
    svg.line("line " + cssClass, points);
    for (var point : points) svg.dot("dot " + cssClass, point);
  }

  private static void drawLegendRow(Svg svg, double y, Side side, String cssClass) {
    svg.line("line " + cssClass, List.of(new Point(Svg.MARGIN, y - 4), new Point(Svg.MARGIN + 40, y - 4)))
        .dot("dot " + cssClass, new Point(Svg.MARGIN + 20, y - 4))
        .text("text", Svg.MARGIN + 52, y, side.name(), side.description());
  }

  /** The area of the lines, with its two axes; {@code top} is its upper edge. */
  private record Plane(Axis sizes, Axis values, double top) {
    private double left() {
      return Svg.MARGIN + 10 + values.ticks().stream().mapToDouble(tick -> Svg.width(Axis.label(tick), 11)).max()
          .orElseThrow();
    }

    private static double right() {
      return Svg.WIDTH - Svg.MARGIN;
    }

    private double x(double size) {
      return left() + INSET + sizes.position(size) * (right() - left() - 2 * INSET);
    }

    private double y(double value) {
      return top + PLANE_HEIGHT * (1 - values.position(value));
    }

    Point pointOf(ResultRow row) {
      return new Point(x(row.size()), y(row.median()));
    }

    void draw(Svg svg, String valuesLabel, String sizesLabel) {
      svg.text("text", Svg.MARGIN, top - 14, valuesLabel);
      for (double tick : values.ticks())
        svg.line("grid", List.of(new Point(left(), y(tick)), new Point(right(), y(tick))))
            .text("words right", left() - 6, y(tick) + 4, Axis.label(tick));
      for (double tick : sizes.ticks()) svg.text("words middle", x(tick), top + PLANE_HEIGHT + 16, Axis.label(tick));
      svg.text("text middle", (left() + right()) / 2, top + PLANE_HEIGHT + 34, sizesLabel);
    }
  }
}
