package io.fibry.engine.cell;

import io.fibry.support.Child;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Tests the first end of an actor in a JVM, near the end of a stack. The JVM links the code of the
 * end at its first use, so the test needs its own JVM.
 */
class FirstActorEndJvmTest {
  static final class Program {
    public static void main(String[] args) {
      new StackEdgeEndFaultTest().actorEndsAfterAskExitNearEndOfStack();
    }
  }

  @Test
  void firstEndInJvmCompletesNearEndOfStack() {
    try (var jvm = Child.java(List.of(), Program.class)) {
      jvm.awaitExit(0);
    }
  }
}
