package io.fibry.engine.message;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.time.Duration;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.Z_Result;

/**
 * An asker ends its wait while the sweep, which has taken the deadline out of its slot, starts the
 * timer. Result: whether a timer is left. Such a timer would keep the answer in memory until the
 * limit is over.
 */
@JCStressTest
@Outcome(id = "false", expect = ACCEPTABLE, desc = "no timer was started, or it was cancelled")
@Outcome(expect = FORBIDDEN, desc = "neither thread saw the write of the other")
@State
public class EndOfWaitAgainstSweep {
  private final LimitedAnswer answer = new LimitedAnswer();

  @Actor
  public void asker() {
    answer.deadline.endWait();
  }

  @Actor
  public void sweep() {
    answer.deadline.startTimer();
  }

  @Arbiter
  public void check(Z_Result result) {
    result.r1 = answer.isArmed;
  }

  /** The answer that the asker waits for, with the clock of its limit. */
  private static final class LimitedAnswer extends OneTimer implements Deadline.AwaitedResult<Object> {
    private boolean isAnswered = true;
    private final Deadline deadline = Deadline.of(this, Duration.ofSeconds(1));

    LimitedAnswer() {
      deadline.beginWait(this); // starts no timer, because the answer seems to have arrived
      isAnswered = false;
    }

    @Override
    public boolean isDone() {
      return isAnswered;
    }

    @Override
    public Object park() {
      throw new UnsupportedOperationException();
    }

    @Override
    public Object park(long nanos) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void expire() {
      throw new UnsupportedOperationException();
    }

    @Override
    public void rememberStart() {}
  }
}
