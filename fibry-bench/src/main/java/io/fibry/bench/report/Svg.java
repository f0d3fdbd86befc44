package io.fibry.bench.report;

import java.text.DecimalFormat;
import java.text.DecimalFormatSymbols;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The text of a picture, an element on each line. It has its own background, and colors for light
 * and for dark pages.
 */
final class Svg {
  static final int WIDTH = 860;
  static final int MARGIN = 16;
  private static final double LETTER = 0.56; // its width, in sizes of its font, on average

  /** The color of a class of elements. */
  record Ink(String name, String light, String dark) {}

  static final Ink PAGE = new Ink("page", "#ffffff", "#0d1117");
  static final List<Ink> TEXTS =
      List.of(new Ink("text", "#1f2328", "#e6edf3"), new Ink("words", "#59636e", "#9198a1"));
  static final Ink GRID = new Ink("grid", "#d1d9e0", "#30363d");
  static final List<Ink> MARKS = List.of(
      new Ink("base", "#12703f", "#4ade97"), new Ink("ours", "#43966c", "#2f9163"),
      new Ink("others", "#7d8997", "#768390"),
      new Ink("ours0", "#12703f", "#4ade97"), new Ink("ours1", "#0a8a9f", "#39c5cf"),
      new Ink("ours2", "#7a8500", "#c3d64a"),
      new Ink("others0", "#c2410c", "#fb8f5a"), new Ink("others1", "#6d4fc2", "#b197fc"),
      new Ink("others2", "#7d8997", "#768390"));

  private static final String SHAPES = """
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

  Svg text(String kind, double x, double y, String words) {
    return line("<text class=\"%s\" x=\"%s\" y=\"%s\">%s</text>", kind, number(x), number(y), escaped(words));
  }

  /** With more words, in small. */
  Svg text(String kind, double x, double y, String name, String words) {
    return line("<text class=\"%s\" x=\"%s\" y=\"%s\">%s<tspan class=\"words\" dx=\"12\">%s</tspan></text>", kind,
        number(x), number(y), escaped(name), escaped(words));
  }

  Svg rectangle(String kind, double x, double y, double width, double height) {
    return line("<rect class=\"%s\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"/>", kind, number(x), number(y),
        number(width), number(height));
  }

  /** A line from point to point. */
  Svg line(String kind, List<Point> points) {
    return line("<polyline class=\"%s\" points=\"%s\"/>", kind,
        points.stream().map(point -> number(point.x) + "," + number(point.y)).collect(Collectors.joining(" ")));
  }

  Svg dot(String kind, Point at) {
    return line("<circle class=\"%s\" cx=\"%s\" cy=\"%s\" r=\"3.5\"/>", kind, number(at.x), number(at.y));
  }

  record Point(double x, double y) {}

  private Svg line(String element, String... values) {
    elements.append(String.format(Locale.ROOT, element, (Object[]) values)).append('\n');
    return this;
  }

  /** How wide the words are, nearly: each machine has other fonts. */
  static double width(String words, int size) {
    return words.length() * size * LETTER;
  }

  /** The file. */
  String with(String title, double height) {
    String high = number(height);
    return """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %1$d %2$s" width="%1$d" height="%2$s" role="img">
        <title>%3$s</title>
        <style>
        %4$s</style>
        <rect class="page" width="%1$d" height="%2$s" rx="6"/>
        %5$s</svg>
        """.formatted(WIDTH, high, escaped(title), style(), elements);
  }

  private static String style() {
    return SHAPES + colors(Ink::light) + "@media (prefers-color-scheme: dark) {\n" + colors(Ink::dark) + "}\n";
  }

  private static String colors(Function<Ink, String> color) {
    return Stream.of(List.of(PAGE, GRID), TEXTS, MARKS).flatMap(List::stream)
        .map(ink -> "." + ink.name + " { color: " + color.apply(ink) + " }\n").collect(Collectors.joining());
  }

  private static String number(double value) {
    return new DecimalFormat("0.#", DecimalFormatSymbols.getInstance(Locale.ROOT)).format(value);
  }

  private static String escaped(String words) {
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
