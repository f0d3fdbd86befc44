package io.fibry.engine.cell;

import io.fibry.support.Child;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The first end in a JVM, at the edge of a stack: what it needs is linked there. Beside other tests
 * it would have been linked before.
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
