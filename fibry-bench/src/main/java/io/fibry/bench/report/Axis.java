package io.fibry.bench.report;

import java.text.DecimalFormat;
import java.text.DecimalFormatSymbols;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** An axis of a chart: maps values to positions, and has the values that get a label. */
record Axis(double min, double max, boolean isLogarithmic, List<Double> ticks) {
  private static final int MAX_LINEAR_RATIO = 30; // if max/min is greater, the axis is logarithmic
  private static final int MAX_STEPS = 6; // of a linear axis
  private static final int FEW_DECADES = 3; // an axis of fewer decades has labels at 2 and 5, too

  static Axis ofValues(List<ResultRow> rows) {
    var statistics = rows.stream().mapToDouble(ResultRow::median).summaryStatistics();
    return ofValues(statistics.getMin(), statistics.getMax());
  }

  /**
   * Returns a linear axis from zero or, if the values are far apart, a logarithmic axis from a
   * power of ten below {@code min}.
   */
  static Axis ofValues(double min, double max) {
    return areFarApart(min, max) ? logarithmic(min, max) : linear(max);
  }

  /** Returns an axis with a label at each size. */
  static Axis ofSizes(List<ResultRow> rows) {
    var ticks = rows.stream().map(row -> (double) row.size()).distinct().sorted().toList();
    return new Axis(ticks.getFirst(), ticks.getLast(), areFarApart(ticks.getFirst(), ticks.getLast()), ticks);
  }

  private static boolean areFarApart(double min, double max) {
    return min > 0 && max > min * MAX_LINEAR_RATIO;
  }

  private static Axis linear(double max) {
    double step = step(max);
    var ticks = new ArrayList<Double>();
    for (int i = 0; i < 2 || (i - 1) * step < max; i++) ticks.add(i * step);
    return new Axis(0, ticks.getLast(), false, ticks);
  }

  private static double step(double max) {
    if (max <= 0) return 1;
    double decade = Math.pow(10, Math.floor(Math.log10(max / MAX_STEPS)));
    for (int factor : new int[] {1, 2, 5}) if (decade * factor * MAX_STEPS >= max) return decade * factor;
    return decade * 10;
  }

  private static Axis logarithmic(double min, double max) {
    int firstDecade = (int) Math.floor(Math.log10(min / 2)); // so that the bar of the smallest value has a length
    int lastDecade = (int) Math.ceil(Math.log10(max));
    var ticks = new ArrayList<Double>();
    for (int decade = firstDecade; decade <= lastDecade; decade++)
      for (int factor : lastDecade - firstDecade < FEW_DECADES ? new int[] {1, 2, 5} : new int[] {1})
        if (ticks.isEmpty() || ticks.getLast() < max) ticks.add(factor * Math.pow(10, decade));
    return new Axis(ticks.getFirst(), ticks.getLast(), true, ticks);
  }

  /** Returns the position of a value: 0 is the beginning of the axis, and 1 its end. */
  double position(double value) {
    if (isLogarithmic) return Math.log(value / min) / Math.log(max / min);
    return max == min ? 0.5 : (value - min) / (max - min);
  }

  static String label(double tick) {
    return new DecimalFormat("#,##0.####", DecimalFormatSymbols.getInstance(Locale.ROOT)).format(tick);
  }
}
