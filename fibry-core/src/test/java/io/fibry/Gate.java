package io.fibry;

import io.fibry.support.Patience;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;

/** A message that holds its handler until the test opens it. */
public final class Gate {
  private static final Queue<Gate> MADE = new ConcurrentLinkedQueue<>();

  public final CountDownLatch entered = new CountDownLatch(1);
  private final CountDownLatch opened = new CountDownLatch(1);

  public Gate() {
    MADE.add(this);
  }

  /**
   * For the end of each test with gates: otherwise a failed test would keep a pool's thread from
   * later tests.
   */
  public static void openAll() {
    for (var gate = MADE.poll(); gate != null; gate = MADE.poll()) gate.open();
  }

  /** Sends a gate; returns when the handler waits at it. The handler must {@link #pass} it. */
  public static Gate occupy(Actor<Object> actor) {
    var gate = new Gate();
    Patience.startFiber(() -> actor.sendMessage(gate));
    Patience.await(gate.entered);
    return gate;
  }

  public static Gate occupy(Sink<?> sink) {
    var gate = new Gate();
    Patience.startFiber(() -> sink.execAsync(nothing -> gate.pass()));
    Patience.await(gate.entered);
    return gate;
  }

  /** A handler that passes a gate in spite of interrupts, and throws an exception. */
  public static void passOrThrow(Object message) throws Exception {
    if (message instanceof Gate gate) gate.passDeaf();
    if (message instanceof Exception failure) throw failure;
  }

  public void open() {
    opened.countDown();
  }

  public void pass() throws InterruptedException {
    entered.countDown();
    opened.await();
  }

  public void passDeaf() {
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
