package io.fibry.bench.report;

import java.text.DecimalFormat;
import java.text.DecimalFormatSymbols;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Builds a picture as SVG, with an element on each line. The picture has its own background, and
 * colors for light and for dark pages.
 */
final class Svg {
  static final int WIDTH = 860;
  static final int MARGIN = 16;
  private static final double LETTER_WIDTH = 0.56; // on average, as a multiple of the size of the font

  /** The colors of a CSS class, on light and on dark pages. */
  record Ink(String name, String light, String dark) {}

  static final Ink PAGE = new Ink("page", "#ffffff", "#0d1117");
  static final List<Ink> TEXTS =
      List.of(new Ink("text", "#1f2328", "#e6edf3"), new Ink("words", "#59636e", "#9198a1"));
  static final Ink GRID = new Ink("grid", "#d1d9e0", "#30363d");
  static final List<Ink> SERIES_COLORS = List.of(
      new Ink("base", "#12703f", "#4ade97"), new Ink("ours", "#43966c", "#2f9163"),
      new Ink("others", "#7d8997", "#768390"),
      new Ink("ours0", "#12703f", "#4ade97"), new Ink("ours1", "#0a8a9f", "#39c5cf"),
      new Ink("ours2", "#7a8500", "#c3d64a"),
      new Ink("others0", "#c2410c", "#fb8f5a"), new Ink("others1", "#6d4fc2", "#b197fc"),
      new Ink("others2", "#7d8997", "#768390"));

  private static final String CSS_RULES = """
      svg { font: 13px system-ui, sans-serif }
      text, tspan, .page, .bar, .dot { fill: currentColor }
      .title { font-size: 16px; font-weight: 600 }
      .words { font-size: 11px }
      .right { text-anchor: end }
      .middle { text-anchor: middle }
      .line { fill: none; stroke: currentColor; stroke-width: 2.5 }
      .hollow { fill: none; stroke: currentColor; stroke-dasharray: 4 2 }
      .line.ours1, .line.others1 { stroke-dasharray: 8 5 }
      .line.ours2, .line.others2 { stroke-dasharray: 2 4 }
      .grid { stroke: currentColor }
      """;

  private final StringBuilder elements = new StringBuilder();

  Svg text(String cssClass, double x, double y, String words) {
    return add("<text class=\"%s\" x=\"%s\" y=\"%s\">%s</text>", cssClass, number(x), number(y), escaped(words));
  }

  /** Adds a text, followed by more words in a smaller font. */
  Svg text(String cssClass, double x, double y, String name, String words) {
    return add("<text class=\"%s\" x=\"%s\" y=\"%s\">%s<tspan class=\"words\" dx=\"12\">%s</tspan></text>", cssClass,
        number(x), number(y), escaped(name), escaped(words));
  }

  Svg rectangle(String cssClass, double x, double y, double width, double height) {
    return add("<rect class=\"%s\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"/>", cssClass, number(x), number(y),
        number(width), number(height));
  }

  /** Adds a line through the points. */
  Svg line(String cssClass, List<Point> points) {
    return add("<polyline class=\"%s\" points=\"%s\"/>", cssClass,
        points.stream().map(point -> number(point.x) + "," + number(point.y)).collect(Collectors.joining(" ")));
  }

  Svg dot(String cssClass, Point center) {
    return add("<circle class=\"%s\" cx=\"%s\" cy=\"%s\" r=\"3.5\"/>", cssClass, number(center.x), number(center.y));
  }

  record Point(double x, double y) {}

  private Svg add(String template, String... values) {
    elements.append(String.format(Locale.ROOT, template, (Object[]) values)).append('\n');
    return this;
  }

  /** Returns the approximate width of a text, because fonts differ between machines. */
  static double width(String words, int fontSize) {
    return words.length() * fontSize * LETTER_WIDTH;
  }

  /** Returns the content of the SVG file. */
  String document(String title, double height) {
    String heightText = number(height);
    return """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %1$d %2$s" width="%1$d" height="%2$s" role="img">
        <title>%3$s</title>
        <style>
        %4$s</style>
        <rect class="page" width="%1$d" height="%2$s" rx="6"/>
        %5$s</svg>
        """.formatted(WIDTH, heightText, escaped(title), style(), elements);
  }

  private static String style() {
    return CSS_RULES + colors(Ink::light) + "@media (prefers-color-scheme: dark) {\n" + colors(Ink::dark) + "}\n";
  }

  private static String colors(Function<Ink, String> color) {
    return Stream.of(List.of(PAGE, GRID), TEXTS, SERIES_COLORS).flatMap(List::stream)
        .map(ink -> "." + ink.name + " { color: " + color.apply(ink) + " }\n").collect(Collectors.joining());
  }

  private static String number(double value) {
    return new DecimalFormat("0.#", DecimalFormatSymbols.getInstance(Locale.ROOT)).format(value);
  }

  private static String escaped(String words) {
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
