package io.fibry;

import java.util.concurrent.ThreadFactory;

/** The strategies whose threads the library makes, and so may name and interrupt. Nothing is inherited from whoever happens to send first: Bob's message would run as Alice. */
record OwnThreads(String label, ThreadFactory factory, boolean resident) implements Strategy {
  static final OwnThreads FIBER = new OwnThreads("FIBER", Thread.ofVirtual().inheritInheritableThreadLocals(false).factory(), false);
  static final OwnThreads RESIDENT_FIBER = new OwnThreads("residentFiber()", FIBER.factory, true);
  static final OwnThreads THREAD = new OwnThreads("THREAD", Thread.ofPlatform().daemon().inheritInheritableThreadLocals(false).name("fibry-", 0).factory(), true);

  @Override
  public void activate(Runnable activation) {
    factory.newThread(activation).start();
  }

  @Override
  public String toString() {
    return label;
  }
}
