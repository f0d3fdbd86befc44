package io.fibry.support;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * A test that runs with {@code -Psoak} only, because it depends on the timing of the machine, for
 * example if it kills real processes. Its counterpart runs in each build, and chooses by a seed or
 * stops at named points.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Tag("soak")
public @interface Soak {
  /** Whether this build runs with {@code -Psoak}: then other tests have more rounds, too. */
  boolean ON = Boolean.getBoolean("fibry.soak");

  /** Names the test of each build that checks the same: a class, or a class and a method. */
  String counterpart();
}
