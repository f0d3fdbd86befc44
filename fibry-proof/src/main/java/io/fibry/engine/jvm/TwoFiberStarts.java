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
 * Two threads each give a task to a {@link FiberStarter}, and run the tasks that it has started.
 * The first thread also starts pending tasks, as an actor on a busy fiber does. Results: how often
 * each task ran.
 */
@JCStressTest
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "each task ran once")
@Outcome(expect = FORBIDDEN, desc = "a task was forgotten, or ran twice")
@State
public class TwoFiberStarts {
  private final ConcurrentLinkedQueue<Runnable> started = new ConcurrentLinkedQueue<>();
  private final FiberStarter starter = new FiberStarter(started::add, failed -> {}, FiberStarter.FETCH_TIMEOUT);
  private final AtomicInteger firstRuns = new AtomicInteger();
  private final AtomicInteger secondRuns = new AtomicInteger();

  @Actor
  public void firstStarter() {
    starter.enqueue(firstRuns::incrementAndGet);
    runStarted();
    starter.startPending();
  }

  @Actor
  public void secondStarter() {
    starter.enqueue(secondRuns::incrementAndGet);
    runStarted();
  }

  @Arbiter
  public void verdict(II_Result result) {
    runStarted();
    result.r1 = firstRuns.get();
    result.r2 = secondRuns.get();
  }

  private void runStarted() {
    for (var task = started.poll(); task != null; task = started.poll()) task.run();
  }
}
