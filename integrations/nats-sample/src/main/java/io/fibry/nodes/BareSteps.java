package io.fibry.nodes;

import io.fibry.codec.Codec;
import io.fibry.nodes.Echo.Ask;
import io.fibry.nodes.Echo.Message;
import io.nats.client.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;

/**
 * The steps that a message to another node needs at least, without actors. {@link Measurements}
 * compares them with messages between actors.
 */
final class BareSteps {
  private static final Codec<Message> MESSAGES = Codec.of(Message.class);
  private static final Codec<Bundle> BUNDLES = Codec.of(Bundle.class);
  private static final Codec<Long> ANSWERS = Codec.of(Long.class);
  private static final String SUBJECT = "bundles";
  private static final byte[] EMPTY = {};
  private static final int MAX_MESSAGES = 512; // in a bundle, as in bundles between nodes
  private static final int MAX_BUNDLES = 2; // without an answer

  private record Bundle(List<byte[]> bodies) {}

  /** A step of a thread that takes elements from a queue. */
  @FunctionalInterface
  private interface Step<T> {
    void run(T element) throws InterruptedException;
  }

  /** Requests within a process, which pass two threads: of a network, and of the receiver. */
  static final class Relay {
    private record Sent(byte[] body, CompletableFuture<byte[]> answer) {}

    private record Received(Ask ask, CompletableFuture<byte[]> answer) {}

    private final BlockingQueue<Sent> network = new LinkedBlockingQueue<>();

    Relay() {
      var receiver = new LinkedBlockingQueue<Received>();
      repeat(network, sent -> receiver.add(new Received((Ask) MESSAGES.decode(sent.body), sent.answer)));
      repeat(receiver, received -> received.answer.complete(ANSWERS.encode(received.ask.number())));
    }

    long ask(Ask ask) throws Exception {
      var sent = new Sent(MESSAGES.encode(ask), new CompletableFuture<>());
      network.add(sent);
      return ANSWERS.decode(sent.answer.get());
    }
  }

  private BareSteps() {}

  private static <T> void repeat(BlockingQueue<T> queue, Step<T> step) {
    Thread.startVirtualThread(() -> {
      try {
        while (true) step.run(queue.take());
      } catch (InterruptedException end) {
        Thread.currentThread().interrupt();
      }
    });
  }

  /** Deserializes the messages of bundles, adds them to a queue, and acknowledges each bundle. */
  static void receiveBundles(Connection connection) {
    var handled = new LinkedBlockingQueue<Message>();
    repeat(handled, message -> {});
    connection.createDispatcher(bundle -> {
      for (var body : BUNDLES.decode(bundle.getData()).bodies) handled.add(MESSAGES.decode(body));
      connection.publish(bundle.getReplyTo(), EMPTY);
    }).subscribe(SUBJECT);
  }

  /** Serializes messages, sends them in bundles, and waits until all bundles are acknowledged. */
  static void sendBundles(Connection connection, Message message, int count, Duration limit)
      throws InterruptedException {
    var permits = new Semaphore(MAX_BUNDLES);
    var bodies = new ArrayList<byte[]>(MAX_MESSAGES);
    for (int i = 1; i <= count; i++) {
      bodies.add(MESSAGES.encode(message));
      if (bodies.size() < MAX_MESSAGES && i < count) continue;
      permits.acquire();
      connection.requestWithTimeout(SUBJECT, BUNDLES.encode(new Bundle(bodies)), limit)
          .whenComplete((answer, failure) -> permits.release());
      bodies.clear();
    }
    permits.acquire(MAX_BUNDLES);
  }
}
