package io.fibry.nats.transport;

import io.fibry.cluster.TransportException;
import io.fibry.cluster.spi.ClusterTransport.Entry;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.codec.Codec;
import io.fibry.codec.CodecException;
import io.fibry.nats.NatsNetwork;
import io.fibry.nats.connection.AppSubjects;
import io.fibry.text.SafeLogger;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;

/**
 * Reads the table for askers. Askers may not call JetStream themselves, because the server sends an
 * answer to any subject that a call names. So a program that may call JetStream could write into
 * any stream.
 *
 * <p>Questions are answered on fibers, at most 16 at a time. The list of nodes is read at most once
 * a second; {@code readAt} and {@code nodes} are guarded by the lock.
 */
final class TableDirectory {
  private static final Logger LOG = SafeLogger.of(NatsNetwork.class);
  private static final Codec<Question> QUESTION = Codec.of(Question.class);
  private static final Codec<Found> FOUND = Codec.of(Found.class);
  private static final int MAX_PARALLEL = 16;
  private static final long CACHE_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** @param key the key of the wanted entry, or empty for the entries of all nodes */
  record Question(Optional<String> key) {}

  /** An entry of the table. */
  record Row(String key, byte[] value, long version) {
    Entry entry() {
      return new Entry(key, Optional.of(value), version);
    }
  }

  /** The answer to a question. */
  record Found(List<Row> rows) {}

  private final ProgramMessaging messages;
  private final NatsTable table;
  private final String keyPrefix; // beginning of the keys of nodes
  private final Semaphore permits = new Semaphore(MAX_PARALLEL);
  private final ReentrantLock lock = new ReentrantLock();
  private Optional<Found> nodes = Optional.empty();
  private long readAt; // when nodes was read, ns by System.nanoTime

  private TableDirectory(ProgramMessaging messages, NatsTable table, String app) {
    this.messages = messages;
    this.table = table;
    this.keyPrefix = nodeKeyPrefix(app);
  }

  /** {@return the beginning of the keys of nodes} */
  static String nodeKeyPrefix(String app) {
    return "fb." + app + ".node.";
  }

  static byte[] encodeQuestion(Optional<String> key) {
    return QUESTION.encode(new Question(key));
  }

  static List<Row> decodeRows(WireMessage answer) {
    return FOUND.decode(answer.body()).rows();
  }

  /** Answers questions until the connection is closed. */
  static void begin(ProgramMessaging messages, NatsTable table, String app) {
    messages.subscribe(new AppSubjects(app).directory(), Optional.of("directory"),
        new TableDirectory(messages, table, app)::onQuestion);
  }

  /** Called on the thread of the subscription. A question above the limit is not answered. */
  private void onQuestion(WireMessage question) {
    if (question.replyTo().isEmpty() || !permits.tryAcquire()) return;
    boolean isStarted = false;
    try {
      Thread.ofVirtual().name("directory").start(() -> answer(question));
      isStarted = true;
    } finally {
      if (!isStarted) permits.release();
    }
  }

  private void answer(WireMessage question) {
    try {
      var key = QUESTION.decode(question.body()).key();
      var result =
          key.isPresent() ? new Found(table.get(key.get()).map(TableDirectory::row).stream().toList()) : nodes();
      messages.publish(WireMessage.oneWay(question.replyTo().orElseThrow(), Map.of(), FOUND.encode(result)));
    } catch (TransportException | CodecException | IllegalArgumentException failure) {
      LOG.debug("a question about the table was not answered", failure);
    } finally {
      permits.release();
    }
  }

  private Found nodes() {
    lock.lock();
    try {
      if (nodes.isEmpty() || System.nanoTime() - readAt > CACHE_NANOS) {
        nodes = Optional.of(new Found(table.list().keys().stream().filter(key -> key.startsWith(keyPrefix)).sorted()
            .flatMap(key -> table.get(key).stream()).map(TableDirectory::row).toList()));
        readAt = System.nanoTime();
      }
      return nodes.get();
    } finally {
      lock.unlock();
    }
  }

  private static Row row(Entry entry) {
    return new Row(entry.key(), entry.value().orElseThrow(), entry.version());
  }
}
