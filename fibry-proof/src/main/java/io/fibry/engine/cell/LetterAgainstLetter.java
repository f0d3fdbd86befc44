package io.fibry.engine.cell;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.fibry.DeadLetter.Reason;
import io.fibry.engine.cell.DeadLetters.ActorDeadLetter;
import java.util.Optional;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Two threads add the first dead letters of a reason, so each makes a ring buffer for them. The
 * result is the number of stored letters. This test detects a second buffer that replaces the
 * first.
 */
@JCStressTest
@Outcome(id = "2", expect = ACCEPTABLE, desc = "both letters are in the same buffer")
@Outcome(expect = FORBIDDEN, desc = "a letter is lost with its buffer")
@State
public class LetterAgainstLetter {
  private final Accounts accounts = new Accounts(null);

  private static ActorDeadLetter letter(long number) {
    return new ActorDeadLetter(null, "letter", Reason.REJECTED, Optional.empty(), null, number);
  }

  @Actor
  public void first() {
    accounts.addLetter(letter(1));
  }

  @Actor
  public void second() {
    accounts.addLetter(letter(2));
  }

  @Arbiter
  public void count(I_Result result) {
    result.r1 = accounts.letters().size();
  }
}
