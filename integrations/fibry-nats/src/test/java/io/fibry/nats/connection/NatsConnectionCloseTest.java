package io.fibry.nats.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.cluster.TransportException;
import io.fibry.nats.NatsNetwork.Role;
import io.nats.client.Connection;
import io.nats.client.Dispatcher;
import io.nats.client.impl.NatsMessage;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

/** Tests the close of a connection whose client fails to close. */
class NatsConnectionCloseTest {
  /** A client without a server. It takes all messages, and its close fails. */
  private static Connection failingClient() {
    var loader = NatsConnectionCloseTest.class.getClassLoader();
    var dispatcher = Proxy.newProxyInstance(loader, new Class<?>[] {Dispatcher.class}, (proxy, method, args) -> null);
    return (Connection) Proxy.newProxyInstance(loader, new Class<?>[] {Connection.class},
        (proxy, method, args) -> switch (method.getName()) {
          case "createInbox" -> "inbox";
          case "createDispatcher" -> dispatcher;
          case "close" -> throw new IllegalStateException("the close failed");
          default -> null;
        });
  }

  @Test
  void pendingRequestFailsWhenCloseOfClientFails() {
    var connection = new NatsConnection(failingClient(), new ConnectionErrors(new AppClient("bank", "a", Role.NODE)));
    var answer = connection.requests().ask(NatsMessage.builder().subject("till"), "till", Duration.ofDays(1));
    assertFalse(answer.isDone());

    assertEquals("the close failed", assertThrows(IllegalStateException.class, connection::close).getMessage());

    assertTrue(answer.isCompletedExceptionally());
    var failure = assertThrows(CompletionException.class, answer::join).getCause();
    assertEquals(TransportException.Failure.UNKNOWN, ((TransportException) failure).failure());
  }
}
