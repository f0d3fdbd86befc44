package io.fibry.engine.queue;

import io.fibry.engine.jvm.EngineThreads;
import java.util.concurrent.Future;

/**
 * Lets a platform thread wait for the quick answer of an actor on our carriers without a park. A
 * parked asker is woken by a system call of the carrier, which takes longer than a quick handler. A
 * carrier without work searches for some 60 µs before it sleeps. So an idle actor may answer
 * without any system call. A virtual thread never spins, because it would keep other virtual
 * threads from its carrier.
 *
 * <p><b>When.</b> A spin takes processor time from other threads if the answer comes late. So an
 * asker spins only if no message waited in the mailbox when it sent its request. Otherwise many
 * askers of one actor would hold each other up. Moreover, each behavior has an estimate: a level
 * from 0 to 7, and a number of waits that skip the spin. A spin that gets no answer raises the
 * level, and sets the number to {@code 4 << level} if the new level is 2 or more. A spin that gets
 * the answer lowers the level. So if fewer than half of the spins succeed, nearly all waits park at
 * once. One wait of 513 spins for a slow actor. If spins succeed at random, four waits in five spin
 * at a rate of 90 %, and only one wait in ten at 67 %, because a few failures in a row are enough.
 *
 * <p><b>One carrier.</b> While a carrier is awake, the request of an asker that spins wakes no
 * other carrier. A second carrier would cost the asker a system call. Moreover, the first carrier
 * would then sleep, because the second searches for it, and the next request would wait for its
 * wake-up. If the awake carrier is busy for longer than the spin, the asker wakes another one.
 *
 * <p><b>Why safe.</b> A spin only reads. An asker that gets no answer then parks as it would park
 * without the spin, so no wake-up is lost. If the asker ends before it has woken a carrier, the
 * watch of the carriers finds the waiting drain. The estimate is a plain field. A lost update of
 * racing askers only causes or prevents a few spins.
 *
 * <p>A superclass of behaviors, because each of many actors may have its own behavior, and an
 * object of its own would cost each behavior at least 16 bytes.
 */
public abstract class AnswerSpin {
  private static final long MAX_NANOS = 5_000;
  private static final int MAX_LEVEL = 7;
  private static final int MIN_SKIPPING_LEVEL = 2;
  private static final int LEVEL = 1 << 10; // more than the number of waits that skip the spin
  private static final boolean HAS_TWO_PROCESSORS = Runtime.getRuntime().availableProcessors() > 1;

  // level * LEVEL + the number of waits that skip the spin. Written by askers, only on a change,
  // because carriers read fields beside it
  short estimate;

  protected AnswerSpin() {}

  /** Returns whether an asker on this thread may spin, if no message waits in the mailbox. */
  public static boolean isPossible() {
    return HAS_TWO_PROCESSORS && EngineThreads.isPlatformThreadBesideCarriers();
  }

  /**
   * Returns whether the asker of the next request should spin. Returns false, and counts the wait,
   * if the estimate says that the answer comes late.
   */
  public final boolean isSpinDue() {
    short current = estimate; // read once, because other askers write it
    if (isDue(current)) return true;
    estimate = (short) (current - 1);
    return false;
  }

  /**
   * Spins until the request is done or the thread is interrupted, for {@link #MAX_NANOS} at most.
   * After a spin without an answer, wakes a carrier if none has taken the request.
   */
  public final void spinFor(Future<?> request) {
    boolean isAnswered = spin(request, Thread.currentThread(), MAX_NANOS);
    short current = estimate;
    short next = afterSpin(current, isAnswered);
    if (next != current) estimate = next;
    if (!isAnswered) wakeCarrier();
  }

  /** Overridden by a test. */
  void wakeCarrier() {
    EngineThreads.wakeCarrierForEntry();
  }

  /** Returns whether the request is done. */
  static boolean spin(Future<?> request, Thread thread, long maxNanos) {
    long start = System.nanoTime();
    while (!request.isDone()) {
      if (thread.isInterrupted() || System.nanoTime() - start > maxNanos) return false;
      Thread.onSpinWait();
    }
    return true;
  }

  /** Returns whether a wait may spin. */
  static boolean isDue(int estimate) {
    return estimate % LEVEL == 0;
  }

  /** Returns the estimate after a spin. */
  static short afterSpin(int estimate, boolean isAnswered) {
    int level = Math.clamp(estimate / LEVEL + (isAnswered ? -1 : 1), 0, MAX_LEVEL);
    int skips = isAnswered || level < MIN_SKIPPING_LEVEL ? 0 : 4 << level;
    return (short) (level * LEVEL + skips);
  }
}
