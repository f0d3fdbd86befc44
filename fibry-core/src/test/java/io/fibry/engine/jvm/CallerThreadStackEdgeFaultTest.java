package io.fibry.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.testing.OverflowingSender;
import io.fibry.testing.SilencedStdErr;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tests a thread that waits near the end of its stack, and first runs an activation that it has
 * postponed. The activation must run, although perhaps only at the next wait.
 */
@ExtendWith(SilencedStdErr.class)
class CallerThreadStackEdgeFaultTest {
  private static final int MAX_NESTED = 64;

  private final AtomicInteger runs = new AtomicInteger();

  @Test
  void postponedActivationRunsOnceNearEndOfStack() throws InterruptedException {
    var thread = OverflowingSender.smallStack(() -> nest(MAX_NESTED));

    thread.start();
    thread.join();

    assertEquals(1, runs.get());
  }

  /** Runs nested activations. The innermost postpones an activation, and then waits. */
  private void nest(int depth) {
    if (depth > 0) CallerThreadRunner.run(() -> nest(depth - 1));
    else {
      CallerThreadRunner.run(() -> call(8));
      descend();
    }
  }

  private void call(int depth) {
    if (depth > 0) call(depth - 1);
    else runs.incrementAndGet();
  }

  /** Recurses until the stack overflows, and waits at each depth on the way back. */
  private void descend() {
    try {
      descend();
      CallerThreadRunner.beforeWait();
    } catch (StackOverflowError expected) {} // thrown by the recursive call or by a wait
  }
}
