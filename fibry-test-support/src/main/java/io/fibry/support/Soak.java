package io.fibry.support;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * A test that runs with {@code -Psoak} only: chance decides there by the clock of the machine, as
 * where real processes are killed. Its counterpart in each build decides by a seed or at named
 * points.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Tag("soak")
public @interface Soak {
  /** If this build runs with {@code -Psoak}: tests of each build have more rounds there. */
  boolean ON = Boolean.getBoolean("fibry.soak");

  /** Where each build tests the same: a class, or a class and a method. */
  String counterpart();
}
