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
 * A drain completes a request while its asker chains a callback to it. The asker's callback must
 * not run on the drain's thread. A second callback, which is chained to {@code allOf}, does run on
 * that thread. The second callback keeps the drain busy after the drain has set the result, and
 * before {@code CompletableFuture} looks for callbacks a last time. If the asker did not wait for
 * CALLBACKS_RUN, the drain could then run the asker's callback. Result: the thread of the asker's
 * callback.
 */
@JCStressTest
@Outcome(id = "asker", expect = ACCEPTABLE, desc = "the request was completed before the chaining")
@Outcome(id = "elsewhere", expect = ACCEPTABLE, desc = "the callback was chained before the completion")
@Outcome(expect = FORBIDDEN, desc = "the callback ran on the drain's thread")
@State
public class SettleAgainstChain {
  private final RequestFuture<Integer> request =
      new RequestFuture<>(new FakeActor(), "message", null);
  private Thread drain;
  private Thread asker;
  private CompletableFuture<Thread> callback;

  public SettleAgainstChain() {
    request.begin();
    CompletableFuture.allOf(request).thenRun(Thread::onSpinWait);
  }

  @Actor
  public void drain() {
    drain = Thread.currentThread();
    request.finish(7);
  }

  @Actor
  public void asker() {
    asker = Thread.currentThread();
    callback = request.thenApply(value -> Thread.currentThread());
  }

  @Arbiter
  public void verdict(L_Result result) {
    var thread = callback.join();
    result.r1 = thread == drain ? "drain" : thread == asker ? "asker" : "elsewhere";
  }
}
