package io.fibry.net.http;

import io.fibry.ActorBuilder;
import io.fibry.net.socket.ClientOutbox;
import io.fibry.net.socket.ClientSocket;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * Sends a response of server-sent events. A comment every 15 seconds finds out whether the client
 * is still connected.
 */
final class ServerSentEvents {
  private static final int MAX_UNSENT = 1 << 20;
  private static final Duration PING_PERIOD = Duration.ofSeconds(15);

  @SuppressWarnings("StringOperationCanBeSimplified") // a user may send an equal text, which must not count as a ping
  private static final String PING = new String(":");

  private static final ClientOutbox.MessageFormat<String> FORMAT =
      new ClientOutbox.MessageFormat<>(ServerSentEvents::size, ServerSentEvents::bytes, ServerSentEvents::isPing);

  private ServerSentEvents() {}

  /** Begins the response, and returns the outbox for its events. */
  static ClientOutbox<String> open(ActorBuilder<Object> builder, ClientSocket socket, ServerResponse response)
      throws IOException {
    response.requireNotBegun("a response of events");
    var outbox = new ClientOutbox<>(builder, "events", socket, MAX_UNSENT, FORMAT);
    response.releasePermit(); // released before the client can send another request; events may last for hours
    response.beginUntilClose("text/event-stream");
    if (response.hasBody()) outbox.actor.sendMessageEvery(PING, PING_PERIOD);
    else outbox.actor.sendPoisonPill();
    socket.shutdown.endOnShutdown(outbox.actor);
    return outbox;
  }

  private static int size(String event) {
    long size = 8; // two line ends and the beginning of the first line
    for (int i = 0; i < event.length(); i++) {
      char c = event.charAt(i);
      size += c == '\n' || c == '\r' ? 7 : c < 0x80 ? 1 : c < 0x800 ? 2 : 3; // 7: the line end and "data: "
    }
    return (int) Math.min(Integer.MAX_VALUE, size);
  }

  private static boolean isPing(Object event) {
    return event == PING;
  }

  private static byte[] bytes(String event) {
    return (isPing(event) ? ":\n\n"
        : "data: " + event.replace("\r\n", "\n").replace('\r', '\n').replace("\n", "\ndata: ") + "\n\n")
        .getBytes(StandardCharsets.UTF_8);
  }
}
