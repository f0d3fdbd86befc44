package io.fibry.net;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * A client of server-sent events, as an actor to write to. The answer has no length and ends with
 * the connection; a comment now and then finds out whether the client is still there.
 */
final class ServerSentEvents {
  private static final int MOST_UNSENT = 1 << 20;
  private static final Duration BETWEEN_PINGS = Duration.ofSeconds(15);

  @SuppressWarnings("StringOperationCanBeSimplified") // told from what users send by its identity
  private static final String PING = new String(":");

  private static final ClientOutbox.Format<String> FORM = new ClientOutbox.Format<>() {
    @Override
    public int size(String event) {
      long size = 8;
      for (int i = 0; i < event.length(); i++) {
        char c = event.charAt(i);
        size += c == '\n' || c == '\r' ? 7 : c < 0x80 ? 1 : c < 0x800 ? 2 : 3;
      }
      return (int) Math.min(Integer.MAX_VALUE, size);
    }

    @Override
    public byte[] bytes(String event) {
      return (event == PING ? ":\n\n"
          : "data: " + event.replace("\r\n", "\n").replace('\r', '\n').replace("\n", "\ndata: ") + "\n\n")
          .getBytes(StandardCharsets.UTF_8);
    }
  };

  private final ClientOutbox<String> outbox;

  ServerSentEvents(ActorBuilder<Object> how, ClientSocket socket, HttpAnswer answer) throws IOException {
    answer.refuseSecond();
    // ends with the link, whatever comes
    outbox = new ClientOutbox<>(how, "events", socket, MOST_UNSENT, FORM);
    answer.permit.leave(); // it may last for hours; before the client can know that it has begun
    answer.stream("text/event-stream");
    if (answer.isHeadOnly()) outbox.actor().sendPoisonPill();
    else outbox.actor().sendMessageEvery(PING, BETWEEN_PINGS);
    socket.endFirst(outbox.actor());
  }

  Actor<String> actor() {
    return outbox.actor();
  }

  /** Its handler has returned: what was sent is written. */
  void finish() {
    outbox.finish();
  }
}
