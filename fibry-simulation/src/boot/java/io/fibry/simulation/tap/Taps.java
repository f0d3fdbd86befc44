package io.fibry.simulation.tap;

import java.lang.invoke.VarHandle;
import java.util.concurrent.Executor;

/** Says which threads are simulated: those whose scheduler is a {@link Machine}, and its carrier. */
public final class Taps {
  /** Of a VirtualThread. Null until the agent is in place: until then nothing is simulated. */
  private static volatile VarHandle scheduler;

  private Taps() {}

  /** By the agent, when all else is in place: from here on simulations are possible. */
  static void open(VarHandle schedulers) {
    scheduler = schedulers;
  }

  /** Of this thread; null if it is not simulated. */
  public static Machine machine() {
    return machine(Thread.currentThread());
  }

  /** Of a thread; null if it is not simulated. */
  public static Machine machine(Thread thread) {
    if (!thread.isVirtual()) return thread instanceof Carrier carrier ? carrier.machine : null;
    var handle = scheduler;
    return handle != null && (Executor) handle.get(thread) instanceof Machine machine ? machine : null;
  }
}
