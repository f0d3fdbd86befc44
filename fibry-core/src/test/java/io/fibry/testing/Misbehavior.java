package io.fibry.testing;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

/** User code that returns normally until it is armed, and then misbehaves at every call. */
public final class Misbehavior {
  public enum Kind { HANGS_DEAF, HANGS, THROWS, OVERFLOWS, HAS_NO_MEMORY }

  public final CountDownLatch struck = new CountDownLatch(1);
  private final Kind kind;
  private final Gate closedGate = new Gate();
  private final AtomicBoolean armed = new AtomicBoolean();

  public Misbehavior(Kind kind) {
    this.kind = kind;
  }

  public void arm() {
    armed.set(true);
  }

  /** Ends the misbehavior, so that code which the library retries succeeds at last. */
  public void disarm() {
    armed.set(false);
  }

  public boolean hangs() {
    return kind == Kind.HANGS_DEAF || kind == Kind.HANGS;
  }

  /** Misbehaves if armed. Returns true, because some user code must return a value. */
  public boolean strike() {
    if (!armed.get()) return true;
    struck.countDown();
    return switch (kind) {
      case HANGS_DEAF -> {
        closedGate.passUninterruptibly();
        yield true;
      }
      case HANGS -> hang();
      case THROWS -> throw new AssertionError("planned");
      case OVERFLOWS -> 1 + overflow(0) > 0;
      case HAS_NO_MEMORY -> throw new OutOfMemoryError("planned");
    };
  }

  private boolean hang() {
    try {
      closedGate.pass();
      return true;
    } catch (InterruptedException interrupt) {
      throw new IllegalStateException("interrupted", interrupt);
    }
  }

  private static int overflow(int level) {
    return 1 + overflow(level + 1);
  }
}
