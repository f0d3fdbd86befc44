package io.fibry.engine.jvm;

import io.fibry.Strategy;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;

/**
 * The strategies whose threads the library makes, and so may name and interrupt. Nothing is
 * inherited from whoever happens to send first: Bob's message would run as Alice.
 */
public record Threads(String label, Executor starter, boolean resident) implements Strategy {
  public static final Relay RELAY =
      new Relay(starter(Thread.ofVirtual().inheritInheritableThreadLocals(false).factory()));
  public static final Threads FIBER = new Threads("FIBER", RELAY::start, false);
  public static final Threads RESIDENT_FIBER = new Threads("residentFiber()", RELAY::start, true);
  public static final Threads THREAD = new Threads("THREAD",
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
