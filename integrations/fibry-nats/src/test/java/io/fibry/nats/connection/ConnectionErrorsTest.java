package io.fibry.nats.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class ConnectionErrorsTest {
  @Test
  void textHasEachMessageOnceThoughCausesFormCycle() {
    var first = new IllegalStateException("no connection");
    var second = new IllegalStateException("refused", first);
    first.initCause(second);

    assertEquals("no connection: refused", ConnectionErrors.text(first));
  }
}
