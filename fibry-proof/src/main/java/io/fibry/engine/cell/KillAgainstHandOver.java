package io.fibry.engine.cell;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fibry.Strategy;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.scope.Stage;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * A fiber runs another actor while a killer interrupts the actor before. Result: an interrupt came
 * afterwards. Catches: no fence, no monitor, or a thread that is not given up.
 */
@JCStressTest
@Outcome(id = "0", expect = ACCEPTABLE, desc = "none, or before")
@Outcome(id = "1", expect = FORBIDDEN, desc = "another actor is interrupted")
@State
public class KillAgainstHandOver {
  private final Cell cell = Stage.actor(Strategy.FIBER, message -> {});
  private final Activation drain = new Activation(cell, null, Activation.ActivationKind.NORMAL);
  private final Fiber fiber = new Fiber();

  private static final class Fiber extends Thread {
    private volatile boolean left;
    private boolean late; // by the killer

    @Override
    public void interrupt() {
      if (left) late = true;
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
    fiber.left = true;
  }

  @Actor
  public void killer(I_Result result) {
    cell.stopAccepting(() -> Termination.interrupt(cell, cell.extras()));
    result.r1 = fiber.late ? 1 : 0;
  }
}
