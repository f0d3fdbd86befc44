package io.fibry.nats;

import io.fibry.cluster.spi.WireMessage;
import io.fibry.pubsub.Subscription;
import io.fibry.text.Lines;
import io.nats.client.Message;
import io.nats.client.impl.NatsMessage;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Messages between the programs of an app, over a connection. Thread-safe. */
final class ProgramMessaging {
  private static final Logger LOG = LoggerFactory.getLogger(NatsNetwork.class);
  private static final int HEADERS = 8 << 10; // bytes for them, of the limit of a message

  private final NatsConnection link;

  ProgramMessaging(NatsConnection link) {
    this.link = link;
  }

  void publish(WireMessage message) {
    link.requests().publish(checked(message).build());
  }

  CompletionStage<WireMessage> request(WireMessage message, Duration limit) {
    var answer = new CompletableFuture<WireMessage>();
    link.requests().askProgram(checked(message), message.subject(), limit).whenComplete((found, failure) -> {
      if (failure == null) answer.complete(open(found));
      else answer.completeExceptionally(failure);
    });
    return answer;
  }

  /** With room for its headers, which the server counts, too. */
  private NatsMessage.Builder checked(WireMessage message) {
    message.checkSize(mostBytes());
    var headers = WireMessageConverter.headers(message);
    if (headers.serializedLength() > HEADERS) throw new IllegalArgumentException("a message to " + message.subject()
        + " has headers of " + headers.serializedLength() + " bytes; at most " + HEADERS + " can be sent");
    return WireMessageConverter.of(message, headers);
  }

  Subscription subscribe(String subject, Optional<String> group, Consumer<WireMessage> reader) {
    return link.listen(subject, group, message -> reader.accept(open(message)));
  }

  /** Without the subject of its answer, if no program of this app hears answers there. */
  private WireMessage open(Message message) {
    var wire = WireMessageConverter.open(message);
    if (wire.replyTo().isEmpty() || link.program().isAnswered(wire.replyTo().get())) return wire;
    LOG.warn("{} sends no answer to {}, which a message to {} asked for", link.program(),
        Lines.escaped(wire.replyTo().get()), Lines.escaped(wire.subject()));
    return new WireMessage(wire.subject(), Optional.empty(), wire.headers(), wire.body());
  }

  int mostBytes() {
    return link.mostBytes() - HEADERS;
  }
}
