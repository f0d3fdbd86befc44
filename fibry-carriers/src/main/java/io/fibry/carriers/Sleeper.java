package io.fibry.carriers;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * The state of one carrier's sleep.
 *
 * <pre>
 *   AWAKE  -> ASLEEP          the carrier found no work
 *   ASLEEP -> WOKEN           another thread, CAS; it then unparks the carrier
 *   ASLEEP, WOKEN -> AWAKE    the carrier: it was woken, found an entry, or has a timer that is due
 * </pre>
 */
final class Sleeper {
  private static final int AWAKE = 0;
  private static final int ASLEEP = 1;
  private static final int WOKEN = 2;
  private static final VarHandle STATE = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "state",
      VarHandle.class, Sleeper.class, int.class);

  private final Thread thread;
  private volatile int state;

  Sleeper(Thread thread) {
    this.thread = thread;
  }

  boolean isAsleep() {
    return state == ASLEEP;
  }

  boolean isWoken() {
    return state == WOKEN;
  }

  /** Called by the carrier, which then looks for entries once more. */
  void fallAsleep() {
    state = ASLEEP;
  }

  /** Called by the carrier. */
  void wakeUp() {
    state = AWAKE;
  }

  /** Called by another thread. Returns false if the carrier is awake or woken. */
  boolean tryWake() {
    if (!STATE.compareAndSet(this, ASLEEP, WOKEN)) return false;
    LockSupport.unpark(thread);
    return true;
  }

  /**
   * Unparks a woken carrier again. Its waker may have had too little stack between its write of the
   * state and its unpark.
   */
  void unparkWoken() {
    if (isWoken()) LockSupport.unpark(thread);
  }
}
