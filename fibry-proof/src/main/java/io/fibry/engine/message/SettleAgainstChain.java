package io.fibry.engine.message;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.CompletableFuture;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/**
 * A drain completes a request while its asker chains to it. The callback never runs on the actor's
 * thread. A callback behind {@code allOf} does, and here delays the drain between setting the
 * result and its last check for callbacks, where a simpler chain would slip in.
 */
@JCStressTest
@Outcome(id = "asker", expect = ACCEPTABLE, desc = "it was answered before")
@Outcome(id = "elsewhere", expect = ACCEPTABLE, desc = "it was chained to before")
@Outcome(expect = FORBIDDEN, desc = "in the actor's turn")
@State
public class SettleAgainstChain {
  private final RequestFuture<Integer> asked =
      new RequestFuture<>(new FakeActor(), "message", null);
  private Thread drain;
  private Thread asker;
  private CompletableFuture<Thread> callback;

  public SettleAgainstChain() {
    asked.begin();
    CompletableFuture.allOf(asked).thenRun(Thread::onSpinWait);
  }

  @Actor
  public void drain() {
    drain = Thread.currentThread();
    asked.finish(7);
  }

  @Actor
  public void asker() {
    asker = Thread.currentThread();
    callback = asked.thenApply(value -> Thread.currentThread());
  }

  @Arbiter
  public void verdict(L_Result result) {
    var where = callback.join();
    result.r1 = where == drain ? "drain" : where == asker ? "asker" : "elsewhere";
  }
}
