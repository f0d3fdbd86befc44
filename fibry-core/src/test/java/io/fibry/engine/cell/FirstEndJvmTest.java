package io.fibry.engine.cell;

import io.fibry.support.Child;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * In this JVM the first actor to end does so at the edge of a stack, so the code that ends an actor
 * is linked there. Beside other tests that code would have been linked before.
 */
class FirstEndJvmTest {
  static final class Program {
    public static void main(String[] args) {
      new StackEdgeEndFaultTest().anActorEndsWhenAskedToAtTheEdgeOfAStack();
    }
  }

  @Test
  void actorEndsThoughItsEndIsTheFirst() {
    try (var jvm = Child.java(List.of(), Program.class)) {
      jvm.ended(0);
    }
  }
}
