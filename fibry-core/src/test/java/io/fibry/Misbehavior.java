package io.fibry;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

/** User code that returns normally until it is armed, and then misbehaves at every call. */
final class Misbehavior {
  enum Kind { HANGS_DEAF, HANGS, THROWS, OVERFLOWS, HAS_NO_MEMORY }

  final CountDownLatch struck = new CountDownLatch(1);
  private final Kind kind;
  private final Gate closedGate = new Gate();
  private final AtomicBoolean armed = new AtomicBoolean();

  Misbehavior(Kind kind) {
    this.kind = kind;
  }

  void arm() {
    armed.set(true);
  }

  /** Ends the misbehavior, so that code which the library retries succeeds at last. */
  void disarm() {
    armed.set(false);
  }

  boolean hangs() {
    return kind == Kind.HANGS_DEAF || kind == Kind.HANGS;
  }

  /** Misbehaves if armed. Returns true, because some user code must return a value. */
  boolean strike() {
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
