package io.fibry.testing;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.Sink;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;

/** A message whose handler waits until the test opens the gate. */
public final class Gate {
  private static final Queue<Gate> GATES = new ConcurrentLinkedQueue<>();

  public final CountDownLatch entered = new CountDownLatch(1);
  private final CountDownLatch opened = new CountDownLatch(1);

  public Gate() {
    GATES.add(this);
  }

  /**
   * Opens all gates. Each test with gates calls this method at its end. Otherwise a failed test
   * would occupy a thread of a pool in later tests.
   */
  public static void openAll() {
    for (var gate = GATES.poll(); gate != null; gate = GATES.poll()) gate.open();
  }

  /**
   * Opens all gates, and closes a scope whose members may wait for its clock. The clock is advanced
   * until the scope is closed.
   */
  public static void openAllAndClose(ActorScope scope, ManualScheduler clock) {
    openAll();
    var closer = Patience.startFiber(() -> scope.closeWithin(Duration.ZERO));
    Patience.eventually(() -> {
      clock.advance(Duration.ofSeconds(1));
      return !closer.isAlive();
    });
  }

  /** Sends a gate, and returns when the handler waits at it. The handler must {@link #pass} it. */
  public static Gate occupy(Actor<Object> actor) {
    var gate = new Gate();
    Patience.startFiber(() -> actor.sendMessage(gate));
    Patience.await(gate.entered);
    return gate;
  }

  public static Gate occupy(Sink<?> sink) {
    var gate = new Gate();
    Patience.startFiber(() -> sink.execAsync(state -> gate.pass()));
    Patience.await(gate.entered);
    return gate;
  }

  /**
   * A handler that waits at a gate even if interrupted, and throws a message that is an exception.
   */
  public static void passOrThrow(Object message) throws Exception {
    if (message instanceof Gate gate) gate.passUninterruptibly();
    if (message instanceof Exception failure) throw failure;
  }

  public void open() {
    opened.countDown();
  }

  public void pass() throws InterruptedException {
    entered.countDown();
    opened.await();
  }

  public void passUninterruptibly() {
    entered.countDown();
    boolean interrupted = false;
    while (opened.getCount() > 0) {
      try {
        opened.await();
      } catch (InterruptedException ignored) {
        interrupted = true;
      }
    }
    if (interrupted) Thread.currentThread().interrupt();
  }
}
