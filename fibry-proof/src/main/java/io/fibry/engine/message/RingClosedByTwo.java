package io.fibry;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fibry.engine.actor.ActorCell;
import io.fibry.engine.cell.Activation;
import io.fibry.engine.cell.Behaviour;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.message.Wait;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Two handlers begin to wait for each other at once: each publishes, then looks for a ring.
 * Results: each found the ring.
 */
@JCStressTest
@Outcome(id = "0, 0", expect = FORBIDDEN, desc = "a ring that nobody found would never end")
@Outcome(expect = ACCEPTABLE, desc = "at least one found it")
@State
public class RingClosedByTwo {
  private static final Behaviour BEHAVIOUR = Stage.actor(Runnable::run, message -> {}).behaviour;
  private final ActorCell a = new ActorCell(BEHAVIOUR);
  private final ActorCell b = new ActorCell(BEHAVIOUR);
  private final RequestFuture<Object> ofA = new RequestFuture<>(a, "request");
  private final RequestFuture<Object> ofB = new RequestFuture<>(b, "request");

  @Actor
  public void first(II_Result result) {
    result.r1 = waits(a, b, ofB);
  }

  @Actor
  public void second(II_Result result) {
    result.r2 = waits(b, a, ofA);
  }

  /** Waits as a handler of {@code by}; returns 1 if it found the ring. */
  private static int waits(ActorCell by, ActorCell on, RequestFuture<Object> asked) {
    var handler = new Activation(by, null, Activation.Kind.NORMAL);
    handler.thread = Thread.currentThread();
    by.announce(handler);
    Activation.CURRENT.set(handler);
    return Wait.begin(on, "request", asked).ring() == null ? 0 : 1; // not closed: it waits for ever
  }
}
