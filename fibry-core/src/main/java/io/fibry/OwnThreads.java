package io.fibry;

import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;

/**
 * The strategies whose threads the library makes, and so may name and interrupt. Nothing is
 * inherited from whoever happens to send first: Bob's message would run as Alice.
 */
record OwnThreads(String label, Executor starter, boolean resident) implements Strategy {
  static final Relay RELAY = new Relay(starter(Thread.ofVirtual().inheritInheritableThreadLocals(false).factory()));
  static final OwnThreads FIBER = new OwnThreads("FIBER", RELAY::start, false);
  static final OwnThreads RESIDENT_FIBER = new OwnThreads("residentFiber()", RELAY::start, true);
  static final OwnThreads THREAD = new OwnThreads("THREAD",
      starter(Thread.ofPlatform().daemon().inheritInheritableThreadLocals(false).name("fibry-", 0).factory()), true);

  private static Executor starter(ThreadFactory threads) {
    return task -> threads.newThread(task).start();
  }

  @Override
  public void activate(Runnable activation) {
    starter.execute(activation);
  }

  @Override
  public String toString() {
    return label;
  }
}
