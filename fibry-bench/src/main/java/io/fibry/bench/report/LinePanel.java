package io.fibry.bench.report;

import io.fibry.bench.report.Svg.Point;
import java.util.List;

/** A panel with a line for each side across the sizes, and below it what each side is. */
record LinePanel(Result result, List<ResultRow> rows) implements Chart.Panel {
  private static final int ABOVE = 44;
  private static final int HEIGHT = 260;
  private static final int BELOW = 62; // ticks, and what they count
  private static final int ROW = 20; // of the legend
  private static final int IN = 40; // from the sides of the panel to the first and the last size
  private static final int COLORS = 3;

  @Override
  public double draw(Svg svg, double top) {
    var plane = new Plane(Axis.ofSizes(rows), Axis.ofFigures(rows), top + ABOVE);
    plane.draw(svg, Chart.label(rows, plane.figures), result.comparison().sizes());
    var sides = rows.stream().map(ResultRow::side).distinct().map(result.comparison()::side).toList();
    for (var side : sides) drawLine(svg, plane, side, color(side, sides));
    double legend = top + ABOVE + HEIGHT + BELOW;
    for (int i = 0; i < sides.size(); i++) explain(svg, legend + i * ROW, sides.get(i), color(sides.get(i), sides));
    return legend + (sides.size() - 1) * ROW;
  }

  /** With dashes, where one line may cover another. */
  private static String color(Side side, List<Side> sides) {
    int number = sides.stream().filter(other -> other.isOurs() == side.isOurs()).toList().indexOf(side) % COLORS;
    return (side.isOurs() ? "ours" : "others") + number;
  }

  private void drawLine(Svg svg, Plane plane, Side side, String color) {
    var points = rows.stream().filter(row -> row.side().equals(side.name())).map(plane::at).toList();
    svg.line("line " + color, points);
    for (var point : points) svg.dot("dot " + color, point);
  }

  private static void explain(Svg svg, double y, Side side, String color) {
    svg.line("line " + color, List.of(new Point(Svg.MARGIN, y - 4), new Point(Svg.MARGIN + 40, y - 4)))
        .dot("dot " + color, new Point(Svg.MARGIN + 20, y - 4))
        .text("text", Svg.MARGIN + 52, y, side.name(), side.words());
  }

  /** Two axes. */
  private record Plane(Axis sizes, Axis figures, double top) {
    private double left() {
      return Svg.MARGIN + 10 + figures.ticks().stream().mapToDouble(tick -> Svg.width(Axis.label(tick), 11)).max()
          .orElseThrow();
    }

    private static double right() {
      return Svg.WIDTH - Svg.MARGIN;
    }

    private double x(double size) {
      return left() + IN + sizes.place(size) * (right() - left() - 2 * IN);
    }

    private double y(double figure) {
      return top + HEIGHT * (1 - figures.place(figure));
    }

    Point at(ResultRow row) {
      return new Point(x(row.size()), y(row.median()));
    }

    void draw(Svg svg, String figuresLabel, String sizesLabel) {
      svg.text("text", Svg.MARGIN, top - 14, figuresLabel);
      for (double tick : figures.ticks())
        svg.line("grid", List.of(new Point(left(), y(tick)), new Point(right(), y(tick))))
            .text("words right", left() - 6, y(tick) + 4, Axis.label(tick));
      for (double tick : sizes.ticks()) svg.text("words middle", x(tick), top + HEIGHT + 16, Axis.label(tick));
      svg.text("text middle", (left() + right()) / 2, top + HEIGHT + 34, sizesLabel);
    }
  }
}
