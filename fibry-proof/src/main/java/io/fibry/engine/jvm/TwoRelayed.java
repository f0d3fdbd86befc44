package io.fibry.engine.jvm;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Two threads hand over a task each, run what was started, and one looks in like an actor on a
 * fiber. Results: how often each ran.
 */
@JCStressTest
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "each once")
@Outcome(expect = FORBIDDEN, desc = "one was forgotten, or run twice")
@State
public class TwoRelayed {
  private final ConcurrentLinkedQueue<Runnable> started = new ConcurrentLinkedQueue<>();
  private final FiberStarter relay = new FiberStarter(started::add, late -> {}, FiberStarter.FETCH_TIMEOUT);
  private final AtomicInteger first = new AtomicInteger();
  private final AtomicInteger second = new AtomicInteger();

  @Actor
  public void one() {
    relay.handOver(first::incrementAndGet);
    runStarted();
    relay.startPending();
  }

  @Actor
  public void other() {
    relay.handOver(second::incrementAndGet);
    runStarted();
  }

  @Arbiter
  public void verdict(II_Result result) {
    runStarted();
    result.r1 = first.get();
    result.r2 = second.get();
  }

  private void runStarted() {
    for (var task = started.poll(); task != null; task = started.poll()) task.run();
  }
}
