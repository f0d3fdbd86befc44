package io.fibry.engine.cell;

import io.fibry.support.Child;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Tests that the first actor that ends in a JVM can end near the end of a stack. The JVM links the
 * code for the end of an actor when it is first used, so the test needs its own JVM.
 */
class FirstActorEndJvmTest {
  static final class Program {
    public static void main(String[] args) {
      new StackEdgeEndFaultTest().actorEndsAfterAskExitNearEndOfStack();
    }
  }

  @Test
  void endOfFirstActorInJvmCompletesNearEndOfStack() {
    try (var jvm = Child.java(List.of(), Program.class)) {
      jvm.awaitExit(0);
    }
  }
}
