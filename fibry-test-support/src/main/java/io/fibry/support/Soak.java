package io.fibry.support;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * Marks a test that runs only with {@code -Psoak}, because it depends on the timing of the machine,
 * for example if it kills real processes. Its counterpart runs in each build. Instead of timing,
 * the counterpart uses choices by a seed, or stops threads at named points.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Tag("soak")
public @interface Soak {
  /** Whether this build runs with {@code -Psoak}; other tests then have more rounds, too. */
  boolean ON = Boolean.getBoolean("fibry.soak");

  /** Names the test that checks the same in each build: a class, or a class and a method. */
  String counterpart();
}
