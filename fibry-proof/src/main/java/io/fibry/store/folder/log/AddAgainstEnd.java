package io.fibry.store.folder.log;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * An entry is added while the taking thread ends. Results: whether the entry was refused, whether
 * the taker got it.
 */
@JCStressTest
@Outcome(id = {"true, false", "false, true"}, expect = ACCEPTABLE, desc = "the sender or the taker has the entry")
@Outcome(expect = FORBIDDEN, desc = "the entry is lost, or both have it")
@State
public class AddAgainstEnd {
  private final JournalQueue<String> queue = new JournalQueue<>();

  @Actor
  public void sender(ZZ_Result result) {
    result.r1 = queue.add("entry") == JournalQueue.SenderAction.REFUSE;
  }

  @Actor
  public void taker(ZZ_Result result) {
    queue.refuseNewEntries();
    result.r2 = queue.poll() != null;
  }
}
