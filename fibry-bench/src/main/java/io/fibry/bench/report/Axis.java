package io.fibry.bench.report;

import java.text.DecimalFormat;
import java.text.DecimalFormatSymbols;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The places of values on an axis, and the values that get a label. */
record Axis(double from, double to, boolean logarithmic, List<Double> ticks) {
  private static final int FAR_APART = 30; // from this ratio on, an axis is logarithmic
  private static final int STEPS = 6; // at most, from zero
  private static final int FEW_DECADES = 3; // where 2 and 5 are labelled too

  static Axis ofFigures(List<ResultRow> rows) {
    var figures = rows.stream().mapToDouble(ResultRow::median).summaryStatistics();
    return ofFigures(figures.getMin(), figures.getMax());
  }

  /** Begins at zero, or at a power of ten below the smallest value. */
  static Axis ofFigures(double least, double most) {
    return areFarApart(least, most) ? logarithmic(least, most) : linear(most);
  }

  /** With a label at each size. */
  static Axis ofSizes(List<ResultRow> rows) {
    var ticks = rows.stream().map(row -> (double) row.size()).distinct().sorted().toList();
    return new Axis(ticks.getFirst(), ticks.getLast(), areFarApart(ticks.getFirst(), ticks.getLast()), ticks);
  }

  private static boolean areFarApart(double least, double most) {
    return least > 0 && most > least * FAR_APART;
  }

  private static Axis linear(double most) {
    double step = step(most);
    var ticks = new ArrayList<Double>();
    for (int i = 0; i < 2 || (i - 1) * step < most; i++) ticks.add(i * step);
    return new Axis(0, ticks.getLast(), false, ticks);
  }

  private static double step(double most) {
    if (most <= 0) return 1;
    double decade = Math.pow(10, Math.floor(Math.log10(most / STEPS)));
    for (int times : new int[] {1, 2, 5}) if (decade * times * STEPS >= most) return decade * times;
    return decade * 10;
  }

  private static Axis logarithmic(double least, double most) {
    int first = (int) Math.floor(Math.log10(least / 2)); // so that the least has a bar, too
    int last = (int) Math.ceil(Math.log10(most));
    var ticks = new ArrayList<Double>();
    for (int decade = first; decade <= last; decade++)
      for (int times : last - first < FEW_DECADES ? new int[] {1, 2, 5} : new int[] {1})
        if (ticks.isEmpty() || ticks.getLast() < most) ticks.add(times * Math.pow(10, decade));
    return new Axis(ticks.getFirst(), ticks.getLast(), true, ticks);
  }

  /** Returns a place from 0 to 1. */
  double place(double figure) {
    if (logarithmic) return Math.log(figure / from) / Math.log(to / from);
    return to == from ? 0.5 : (figure - from) / (to - from);
  }

  static String label(double tick) {
    return new DecimalFormat("#,##0.####", DecimalFormatSymbols.getInstance(Locale.ROOT)).format(tick);
  }
}
