package io.fibry.engine.cell;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fibry.Strategy;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.scope.StressActors;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * A fiber leaves a killed actor to run another actor, while the killer interrupts the fiber.
 * Result: 1 if the interrupt came after the fiber had left the actor, otherwise 0. This test
 * detects a missing fence, a missing monitor, and a drain that still refers to the thread that left
 * it.
 */
@JCStressTest
@Outcome(id = "0", expect = ACCEPTABLE, desc = "no interrupt, or an interrupt before the fiber left")
@Outcome(id = "1", expect = FORBIDDEN, desc = "the next actor is interrupted")
@State
public class KillAgainstHandOver {
  private final Cell cell = StressActors.actor(Strategy.FIBER, message -> {});
  private final Activation drain = new Activation(cell, null, Activation.ActivationKind.NORMAL);
  private final Fiber fiber = new Fiber();

  private static final class Fiber extends Thread {
    private volatile boolean hasLeft;
    private boolean interruptedLate; // written by the killer

    @Override
    public void interrupt() {
      if (hasLeft) interruptedLate = true;
    }
  }

  public KillAgainstHandOver() {
    if (!cell.acquire(new RequestFuture<>(cell, "held", null, true))) throw new AssertionError();
    drain.thread = fiber;
    cell.announce(drain);
    cell.extras();
  }

  @Actor
  public void fiber() {
    drain.leaveThread();
    fiber.hasLeft = true;
  }

  @Actor
  public void killer(I_Result result) {
    cell.stopAccepting(cell::interrupt);
    result.r1 = fiber.interruptedLate ? 1 : 0;
  }
}
