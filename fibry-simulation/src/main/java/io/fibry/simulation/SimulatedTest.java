package io.fibry.simulation;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Marks a JUnit test that is simulated, with one run for each seed. The test method has a parameter
 * of type {@link Simulation}.
 * {@snippet class="io.fibry.simulation.SnippetsTest" region="junit"}
 *
 * <p>All runs use one object of the test's class, and nothing is reset between them, so the method
 * must make everything that a run needs.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Test
@ExtendWith(SimulationExtension.class)
public @interface SimulatedTest {

  /** {@return the number of runs, without an additional run in the order of a quiet machine} */
  int seeds() default 1_000;

  /** {@return the policy that chooses the thread that runs next} */
  SchedulingPolicy policy() default SchedulingPolicy.MIX;

  /** {@return whether dead letters are allowed; if not, a dead letter fails the run} */
  boolean deadLetters() default true;
}
