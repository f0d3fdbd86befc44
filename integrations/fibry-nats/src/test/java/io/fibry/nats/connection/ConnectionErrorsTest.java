package io.fibry.nats.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.nats.NatsNetwork;
import io.fibry.support.Logged;
import io.nats.client.impl.NatsMessage;
import java.util.List;
import org.junit.jupiter.api.Test;

class ConnectionErrorsTest {
  @Test
  void textOfCyclicCausesHasEachMessageOnce() {
    var first = new IllegalStateException("no connection");
    var second = new IllegalStateException("refused", first);
    first.initCause(second);

    assertEquals("no connection: refused", ConnectionErrors.text(first));
  }

  @Test
  void messageDiscardedByClientIsNotLogged() {
    try (var log = new Logged()) {
      var errors = new ConnectionErrors(new AppClient("discarding", "n1", NatsNetwork.Role.NODE));

      errors.messageDiscarded(null, NatsMessage.builder().subject("till").build());

      assertEquals(List.of(), log.lines("discarding/n1"));
    }
  }
}
