package io.fibry.nats.transport;

import io.fibry.cluster.spi.WireMessage;
import io.fibry.nats.NatsNetwork;
import io.fibry.nats.connection.NatsConnection;
import io.fibry.pubsub.Subscription;
import io.fibry.text.Lines;
import io.fibry.text.SafeLogger;
import io.nats.client.Message;
import io.nats.client.impl.NatsMessage;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.slf4j.Logger;

/** Messages between the programs of an app, over a connection. Thread-safe. */
final class ProgramMessaging {
  private static final Logger LOG = SafeLogger.of(NatsNetwork.class);
  private static final int HEADER_BYTES = 8 << 10; // reserved in a message for its headers

  private final NatsConnection connection;

  ProgramMessaging(NatsConnection connection) {
    this.connection = connection;
  }

  void publish(WireMessage message) {
    connection.requests().publish(toNatsMessage(message).build());
  }

  CompletionStage<WireMessage> request(WireMessage message, Duration limit) {
    var answer = new CompletableFuture<WireMessage>();
    connection.requests().askProgram(toNatsMessage(message), message.subject(), limit)
        .whenComplete((received, failure) -> {
          if (failure == null) answer.complete(toWireMessage(received));
          else answer.completeExceptionally(failure);
        });
    return answer;
  }

  /** Converts a message, and checks the sizes of body and headers: the server limits their sum. */
  private NatsMessage.Builder toNatsMessage(WireMessage message) {
    message.checkSize(maxBytes());
    var headers = WireMessageConverter.headers(message);
    if (headers.serializedLength() > HEADER_BYTES)
      throw new IllegalArgumentException("a message to " + message.subject()
          + " has headers of " + headers.serializedLength() + " bytes; at most " + HEADER_BYTES + " can be sent");
    return WireMessageConverter.toNatsMessage(message, headers);
  }

  Subscription subscribe(String subject, Optional<String> group, Consumer<WireMessage> reader) {
    return connection.listen(subject, group, message -> reader.accept(toWireMessage(message)));
  }

  /** Converts a message. Drops its reply subject if no program of this app gets answers there. */
  private WireMessage toWireMessage(Message message) {
    var wire = WireMessageConverter.toWireMessage(message);
    if (wire.replyTo().isEmpty() || connection.identity().isReplySubject(wire.replyTo().get())) return wire;
    LOG.warn("{} sends no answer to {}, which a message to {} asked for", connection.identity(),
        Lines.escaped(wire.replyTo().get()), Lines.escaped(wire.subject()));
    return new WireMessage(wire.subject(), Optional.empty(), wire.headers(), wire.body());
  }

  int maxBytes() {
    return connection.maxBytes() - HEADER_BYTES;
  }
}
