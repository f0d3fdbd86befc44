package io.fibry.engine.jvm;

/** A drain that counts how often it was taken out of its slot. */
final class CountingDrain implements WokenDrain {
  private boolean written; // set by the waker before it puts the drain into a slot
  // takenCount and unseenCount: written by the thread that took the drain
  int takenCount;
  int unseenCount; // how often that thread did not see `written`

  /** Writes the field that the thread that takes the drain must see. */
  CountingDrain write() {
    written = true;
    return this;
  }

  static void take(WokenDrain drain) {
    if (drain != null) drain.runOnce();
  }

  @Override
  public boolean runOnce() {
    takenCount++;
    if (!written) unseenCount++;
    return true;
  }

  @Override
  public void leaveThread() {}

  @Override
  public void forgetHandler() {}

  @Override
  public void penalizeWaker() {}

  @Override
  public void run() {}
}
