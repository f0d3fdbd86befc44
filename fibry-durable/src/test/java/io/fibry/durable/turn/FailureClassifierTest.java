package io.fibry.durable.turn;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class FailureClassifierTest {
  @Test
  void outOfMemoryErrorIsNotBlamedOnMessage() {
    var failure = new IllegalStateException(new IllegalArgumentException(new OutOfMemoryError("made up")));

    assertFalse(FailureClassifier.isMessageFault(failure));
    assertTrue(FailureClassifier.isMessageFault(new IllegalStateException("a bug of the handler")));
  }

  @Test
  void classifierEndsWhenCausesFormCycle() {
    var first = new IllegalStateException("first");
    var second = new IllegalStateException("second", first);
    first.initCause(second);

    assertTrue(FailureClassifier.isMessageFault(first));
  }
}
