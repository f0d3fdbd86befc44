package io.fibry.block;

import io.fibry.text.Durations;
import java.time.Duration;
import java.util.Objects;

/** Checks of arguments. A fault is the text of what would be wrong. */
public final class Arguments {
  private Arguments() {}

  /** Returns the number if it is at least one. */
  public static int requireAtLeastOne(int number, String fault) {
    if (number < 1) throw new IllegalArgumentException(fault + "; give at least 1");
    return number;
  }

  /** Checks a rate of messages or the like. */
  public static void requireRate(int number, String what, Duration period) {
    var rate = "a rate of " + number + " " + what + " in " + Durations.text(Objects.requireNonNull(period, "period"));
    requireAtLeastOne(number, rate + " would let none through");
    if (!period.isPositive())
      throw new IllegalArgumentException(rate + " is none; give a period of more than zero");
  }

  /** Returns the time if it is positive. */
  public static Duration requirePositive(Duration time, String name, String fault) {
    if (!Objects.requireNonNull(time, name).isPositive())
      throw new IllegalArgumentException(fault + "; give more than zero");
    return time;
  }
}
