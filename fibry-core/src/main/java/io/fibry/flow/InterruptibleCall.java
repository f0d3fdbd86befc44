package io.fibry.flow;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Interrupts a call of a handler, from another thread, at most once and only before the call ends.
 *
 * <p>{@code RUNNING -> ENDED}, or {@code RUNNING -> INTERRUPTING -> INTERRUPTED -> ENDED}. Either
 * the time limit or the handler's thread changes the state from RUNNING, never both. If the time
 * limit interrupts, the handler's thread waits until its interrupt flag is set, and clears the
 * flag. So the interrupt cannot arrive later, when the thread handles another message.
 */
final class InterruptibleCall implements Runnable {
  private static final int RUNNING = 0;
  private static final int INTERRUPTING = 1;
  private static final int INTERRUPTED = 2;
  private static final int ENDED = 3;

  private final AtomicInteger state = new AtomicInteger();
  private final Thread handlerThread;

  InterruptibleCall(Thread handlerThread) {
    this.handlerThread = handlerThread;
  }

  /**
   * Interrupts the handler, because its limit has expired. Called on a platform thread, because the
   * handler may hold the last free carrier. A manual clock calls this method directly.
   */
  @Override
  public void run() {
    if (!state.compareAndSet(RUNNING, INTERRUPTING)) return;
    try {
      handlerThread.interrupt();
    } finally {
      state.set(INTERRUPTED);
    }
  }

  /**
   * Ends the call, on the handler's thread. Returns whether the limit interrupted the call. Only
   * the first call of this method may return true.
   */
  boolean end() {
    if (state.compareAndSet(RUNNING, ENDED)) return false;
    while (state.get() == INTERRUPTING) Thread.yield();
    if (!state.compareAndSet(INTERRUPTED, ENDED)) return false;
    Thread.interrupted();
    return true;
  }
}
