package io.fibry;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

/** User code that misbehaves wherever it is called, from the moment it is armed. */
final class Misbehavior {
  enum Kind { HANGS_DEAF, HANGS, THROWS, OVERFLOWS, HAS_NO_MEMORY }

  final CountDownLatch struck = new CountDownLatch(1);
  private final Kind kind;
  private final Gate never = new Gate();
  private final AtomicBoolean armed = new AtomicBoolean();

  Misbehavior(Kind kind) {
    this.kind = kind;
  }

  void arm() {
    armed.set(true);
  }

  /** So that nothing is tried again for ever. */
  void disarm() {
    armed.set(false);
  }

  boolean hangs() {
    return kind == Kind.HANGS_DEAF || kind == Kind.HANGS;
  }

  /** True, if it returns at all: for code that answers something. */
  boolean strike() {
    if (!armed.get()) return true;
    struck.countDown();
    return switch (kind) {
      case HANGS_DEAF -> {
        never.passDeaf();
        yield true;
      }
      case HANGS -> hang();
      case THROWS -> throw new AssertionError("planned");
      case OVERFLOWS -> 1 + deepen(0) > 0;
      case HAS_NO_MEMORY -> throw new OutOfMemoryError("planned");
    };
  }

  private boolean hang() {
    try {
      never.pass();
      return true;
    } catch (InterruptedException obeyed) {
      throw new IllegalStateException("interrupted", obeyed);
    }
  }

  private static int deepen(int level) {
    return 1 + deepen(level + 1);
  }
}
