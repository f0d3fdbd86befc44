package io.fibry.store.folder;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** An entry is added while the taking thread ends. It sees: refused by its sender, taken. */
@JCStressTest
@Outcome(id = {"true, false", "false, true"}, expect = ACCEPTABLE, desc = "one of them has it")
@Outcome(expect = FORBIDDEN, desc = "it is lost, or told twice")
@State
public class AddAgainstEnd {
  private final JournalQueue<String> inbox = new JournalQueue<>();

  @Actor
  public void sender(ZZ_Result result) {
    result.r1 = inbox.add("entry") == JournalQueue.SenderAction.REFUSE;
  }

  @Actor
  public void taker(ZZ_Result result) {
    inbox.refuseNewEntries();
    result.r2 = inbox.poll() != null;
  }
}
