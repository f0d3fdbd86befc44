package io.fibry.carriers;

import io.fibry.engine.carrier.CarriedDrain;
import java.util.concurrent.atomic.AtomicInteger;

/** A drain that runs some code once, and counts the calls of the scheduler. */
class TestDrain implements CarriedDrain {
  final AtomicInteger runs = new AtomicInteger();
  final AtomicInteger leaves = new AtomicInteger();
  final AtomicInteger forgets = new AtomicInteger();
  private final Runnable code;

  TestDrain(Runnable code) {
    this.code = code;
  }

  @Override
  public boolean runOnce() {
    if (runs.getAndIncrement() > 0) return false;
    code.run();
    return true;
  }

  @Override
  public void run() {
    runOnce();
  }

  @Override
  public void leaveThread() {
    leaves.incrementAndGet();
    Thread.interrupted();
  }

  @Override
  public void forgetHandler() {
    forgets.incrementAndGet();
  }
}
