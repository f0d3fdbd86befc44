package io.fibry.engine.jvm;

/** Counts how often it left its slot. */
final class LaidDrain implements WokenDrain {
  private boolean written; // by the waker
  int taken; // this and the next by the thread that took it
  int unseen;

  /** Writes the field that the thread that takes the drain must see. */
  LaidDrain write() {
    written = true;
    return this;
  }

  static void take(WokenDrain taken) {
    if (taken != null) taken.runOnce();
  }

  @Override
  public boolean runOnce() {
    taken++;
    if (!written) unseen++;
    return true;
  }

  @Override
  public void leaveThread() {}

  @Override
  public void penalizeWaker() {}

  @Override
  public void run() {}
}
