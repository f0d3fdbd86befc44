package io.fibry.flow;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * A call of a handler that another thread may interrupt, once, until it ends.
 *
 * <p>{@code RUNNING -> ENDED}, or {@code RUNNING -> INTERRUPTING -> INTERRUPTED -> ENDED}. Only one
 * thread leaves RUNNING. If the interrupt comes from the time limit, the handler's thread waits
 * until the flag is set, and clears it. So no interrupt comes later, when the thread handles
 * another message.
 */
final class InterruptibleCall implements Runnable {
  private static final int RUNNING = 0;
  private static final int INTERRUPTING = 1;
  private static final int INTERRUPTED = 2;
  private static final int ENDED = 3;

  private final AtomicInteger state = new AtomicInteger();
  private final Thread handler;

  InterruptibleCall(Thread handler) {
    this.handler = handler;
  }

  /** The limit is over. On a platform thread: the handler may hold the last carrier. */
  @Override
  public void run() {
    if (!state.compareAndSet(RUNNING, INTERRUPTING)) return;
    try {
      handler.interrupt();
    } finally {
      state.set(INTERRUPTED);
    }
  }

  /** On the handler's thread. Whether it was interrupted; only the first call can tell. */
  boolean end() {
    if (state.compareAndSet(RUNNING, ENDED)) return false;
    while (state.get() == INTERRUPTING) Thread.yield();
    if (!state.compareAndSet(INTERRUPTED, ENDED)) return false;
    Thread.interrupted();
    return true;
  }
}
