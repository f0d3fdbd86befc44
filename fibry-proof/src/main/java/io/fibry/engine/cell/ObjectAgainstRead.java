package io.fibry.engine.cell;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fibry.engine.scope.StressActors;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/**
 * A thread makes a sink of an object and publishes it through a plain field, while another thread
 * reads the field. The result is the object that the reader finds in the sink. This test detects a
 * missing fence in {@link Cell#setObject}, on processors and compilers that reorder stores.
 */
@JCStressTest
@Outcome(id = "no sink", expect = ACCEPTABLE, desc = "the reader came first")
@Outcome(id = "object", expect = ACCEPTABLE, desc = "the reader found the sink and its object")
@Outcome(expect = FORBIDDEN, desc = "the sink has no object yet")
@State
public class ObjectAgainstRead {
  private Cell published;

  @Actor
  public void maker() {
    var cell = StressActors.actor(activation -> {}, message -> {});
    cell.setObject("object");
    published = cell;
  }

  @Actor
  public void reader(L_Result result) {
    var cell = published;
    result.r1 = cell == null ? "no sink" : cell.state;
  }
}
