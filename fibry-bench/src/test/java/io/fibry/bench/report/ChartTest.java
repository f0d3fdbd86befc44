package io.fibry.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.bench.report.Svg.Ink;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Tests that a chart shows its title, sides and axes, on light and on dark pages. */
class ChartTest {
  private static final Path CHARTS = Path.of("../docs/charts");
  private static final double MIN_TEXT_CONTRAST = 4.5; // the contrasts that WCAG requires
  private static final double MIN_MARK_CONTRAST = 3;

  private static ResultRow row(String side, String unit, double median, long size) {
    return ResultRow.of(side, unit, "", median).withSize(size);
  }

  private static ResultRow row(String side, double nanos) {
    return row(side, "ns/op", nanos, 0);
  }

  private static String chart(String question, ResultRow... rows) {
    return Chart.svg(new Result(question, "", "25", 2, "", "2026-11-20", List.of(rows)));
  }

  private static String pipeline() {
    return chart("jmh-PipelineStages", row("executors", 300), row("parallelStage", 2_000), row("pipeline", 200));
  }

  private static String growth() {
    return chart("growth", row("fibry, an actor", "ns an actor", 9, 20_000),
        row("fibry, an actor", "ns an actor", 30, 2_000_000),
        row("by hand: a parked virtual thread", "ns an actor", 200, 20_000),
        row("by hand: a parked virtual thread", "ns an actor", 500, 2_000_000));
  }

  private static List<String> texts(String chart) {
    return Pattern.compile("<text[^>]*>([^<]*)").matcher(chart).results().map(text -> text.group(1)).toList();
  }

  private static void assertTexts(String chart, String... texts) {
    assertTrue(texts(chart).containsAll(List.of(texts)), () -> List.of(texts) + " are not all in " + texts(chart));
  }

  @Test
  void chartTitleNamesComparison() {
    assertTrue(pipeline().contains("<title>A message through three stages</title>"));
    assertTexts(pipeline(), "A message through three stages");
  }

  @Test
  void barLabelDescribesComparedSide() {
    assertTexts(pipeline(), "pipeline", "Fibry's Pipeline: each stage is an actor", "200");
  }

  @Test
  void lineOfChartHasDescriptionOfItsSide() {
    assertTrue(growth().contains(">by hand: a parked virtual thread<tspan class=\"words\" dx=\"12\">started and kept"));
  }

  @Test
  void barColorDependsOnRoleOfComparedSideAndNotOnItsName() {
    assertEquals(List.of("others", "ours", "base"), bars(pipeline()));
    assertTexts(pipeline(), "Fibry, with which the others are compared", "Fibry in other forms", "others");
  }

  /** Returns the classes of the bars that show values, without the legend. */
  private static List<String> bars(String chart) {
    return Pattern.compile("<rect class=\"bar (\\w+)\".*height=\"18\"").matcher(chart).results()
        .map(bar -> bar.group(1)).toList();
  }

  @Test
  void legendListsOnlyRolesOfMeasuredSides() {
    assertFalse(texts(pipeline()).contains("references, which promise less"));
    assertTexts(chart("jmh-InlineRequest", row("inline", 40), row("monitor", 5)), "references, which promise less");
  }

  @Test
  void axesNameUnitAndBetterDirection() {
    assertTexts(pipeline(), "nanoseconds; less is better", "0", "500", "1,000", "1,500", "2,000");
    assertTexts(growth(), "nanoseconds; less is better; logarithmic scale", "1", "10", "100", "1,000");
  }

  @Test
  void growthChartLabelsItsSizeAxis() {
    assertTexts(growth(), "20,000", "2,000,000", "how many there are");
  }

  @Test
  void barLabelShowsSizeOfMeasurement() {
    assertTexts(chart("delays", row("fibry, timers of one actor, 1 s", "s", 21, 1_000)),
        "Fibry: one actor runs all tasks; 1,000 tasks");
  }

  @Test
  void chartOfTwoUnitsShowsBothUnitsAndValues() {
    var chart = chart("hooks", row("fibry, fibers", "hooks/s", 44_000, 0),
        row("fibry, fibers, most memory of the process", "MB", 416, 0));

    assertTexts(chart, "hooks a second; more is better", "44,000", "megabytes; less is better", "416");
  }

  @Test
  void chartWithoutValuesStillShowsTitle() {
    assertTexts(chart("jmh-PipelineStages", row("pipeline", Double.NaN)), "A message through three stages");
  }

  @Test
  void chartColorsAreReadableOnLightAndDarkPages() {
    assertTrue(pipeline().contains("@media (prefers-color-scheme: dark) {\n.page { color: #0d1117 }"));
    for (var ink : Svg.TEXTS) assertContrast(ink, MIN_TEXT_CONTRAST);
    for (var ink : Svg.SERIES_COLORS) assertContrast(ink, MIN_MARK_CONTRAST);
  }

  private static void assertContrast(Ink ink, double minContrast) {
    double light = contrast(ink.light(), Svg.PAGE.light());
    double dark = contrast(ink.dark(), Svg.PAGE.dark());
    assertTrue(light >= minContrast && dark >= minContrast, () -> ink + " has the contrasts " + light + " and " + dark);
  }

  private static double contrast(String firstColor, String secondColor) {
    double a = luminance(firstColor);
    double b = luminance(secondColor);
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  }

  private static double luminance(String color) {
    return 0.2126 * linear(color, 1) + 0.7152 * linear(color, 3) + 0.0722 * linear(color, 5);
  }

  private static double linear(String color, int start) {
    double channel = Integer.parseInt(color.substring(start, start + 2), 16) / 255.0;
    return channel <= 0.03928 ? channel / 12.92 : Math.pow((channel + 0.055) / 1.055, 2.4);
  }

  @Test
  void committedChartHasFewBytesAndShortLines() throws Exception {
    try (var charts = Files.list(CHARTS)) {
      for (var chart : charts.toList()) {
        assertTrue(Files.size(chart) < 8_000, () -> chart + " is too large");
        assertTrue(Files.readAllLines(chart).stream().allMatch(line -> line.length() < 200),
            () -> chart + " is too wide");
      }
    }
  }

  // ---- axes

  @Test
  void axisStartsAtZeroAndEndsAboveMaximum() {
    assertEquals(List.of(0.0, 20.0, 40.0, 60.0, 80.0, 100.0), Axis.ofValues(50, 91).ticks());
    assertEquals(List.of(0.0, 0.002, 0.004, 0.006), Axis.ofValues(0.005, 0.011).ticks().subList(0, 4));
    assertEquals(0.5, Axis.ofValues(50, 91).position(50));
  }

  @Test
  void axisIsLogarithmicWhenValuesDifferMuch() {
    assertEquals(List.of(1.0, 10.0, 100.0, 1_000.0), Axis.ofValues(9, 800).ticks());
    assertEquals(List.of(10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1_000.0), Axis.ofValues(21, 900).ticks());
    assertEquals(0.5, Axis.ofValues(2, 90).position(10), 1e-9);
  }

  @Test
  void zeroIsAtStartOfAxisEvenIfAllValuesAreZero() {
    assertEquals(0, Axis.ofValues(0, 1_000).position(0));
    assertEquals(0, Axis.ofValues(0, 0).position(0));
  }

  @Test
  void tickLabelIsDecimalNumberWithoutExponent() {
    assertEquals(List.of("0.01", "0.5", "1", "2,000,000"),
        List.of(Axis.label(0.01), Axis.label(0.5), Axis.label(1), Axis.label(2e6)));
  }
}
