package io.fibry.block;

import io.fibry.text.Durations;
import java.time.Duration;
import java.util.Objects;

/** Checks arguments. A {@code fault} is the text that says what is wrong with the argument. */
public final class Arguments {
  private Arguments() {}

  /**
   * Returns the number if it is at least 1. Otherwise throws an exception whose text begins with
   * the fault.
   */
  public static int requireAtLeastOne(int number, String fault) {
    if (number < 1) throw new IllegalArgumentException(fault + "; give at least 1");
    return number;
  }

  /** Checks that the number and the period of a rate are positive. */
  public static void requireRate(int number, String unit, Duration period) {
    var rate = "a rate of " + number + " " + unit + " in " + Durations.text(Objects.requireNonNull(period, "period"));
    requireAtLeastOne(number, rate + " would let none through");
    if (!period.isPositive())
      throw new IllegalArgumentException(rate + " is undefined; give a period of more than zero");
  }

  /**
   * Returns the time if it is more than zero. Otherwise throws an exception whose text begins with
   * the fault.
   */
  public static Duration requirePositive(Duration time, String name, String fault) {
    if (!Objects.requireNonNull(time, name).isPositive())
      throw new IllegalArgumentException(fault + "; give more than zero");
    return time;
  }
}
