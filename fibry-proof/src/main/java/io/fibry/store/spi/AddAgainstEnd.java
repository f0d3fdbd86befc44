package io.fibry.store.spi;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * An entry is added while the writing thread ends. Results: whether the entry was refused, whether
 * the taker got it.
 */
@JCStressTest
@Outcome(id = {"true, false", "false, true"}, expect = ACCEPTABLE, desc = "the sender or the taker has the entry")
@Outcome(expect = FORBIDDEN, desc = "the entry is lost, or both have it")
@State
public class AddAgainstEnd {
  private final WriteInbox<String> inbox = new WriteInbox<>(Thread.currentThread(), 1, entry -> 0);

  @Actor
  public void sender(ZZ_Result result) {
    result.r1 = inbox.offer("entry") == WriteInbox.SenderAction.REFUSE;
  }

  @Actor
  public void taker(ZZ_Result result) {
    inbox.refuseNewEntries();
    result.r2 = inbox.poll() != null;
  }
}
