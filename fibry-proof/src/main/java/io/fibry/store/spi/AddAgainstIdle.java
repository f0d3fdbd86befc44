package io.fibry.store.spi;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * An entry is added while the writing thread is about to become idle. Results: whether the sender
 * must wake the taker, whether the taker may become idle.
 */
@JCStressTest
@Outcome(id = {"true, true", "true, false", "false, false"}, expect = ACCEPTABLE,
    desc = "at least one thread notices the other")
@Outcome(id = "false, true", expect = FORBIDDEN, desc = "the taker sleeps although an entry waits")
@State
public class AddAgainstIdle {
  private final WriteInbox<String> inbox = new WriteInbox<>(Thread.currentThread(), 1, entry -> 0);

  @Actor
  public void sender(ZZ_Result result) {
    result.r1 = inbox.offer("entry") == WriteInbox.SenderAction.WAKE;
  }

  @Actor
  public void taker(ZZ_Result result) {
    result.r2 = inbox.tryIdle();
  }
}
