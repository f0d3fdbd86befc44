package io.fibry.nats;

import io.fibry.cluster.TransportException;
import io.fibry.cluster.spi.ClusterTransport.Entry;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.codec.Codec;
import io.fibry.codec.CodecException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the table for askers. They may not call JetStream themselves: its server sends answers
 * wherever a call asks it to, so each program that may call could write into any stream.
 *
 * <p>Questions are answered on fibers, at most 16 at a time. The list of nodes is read at most once
 * a second; {@code read} and {@code nodes} are written under the lock.
 */
final class TableDirectory {
  private static final Logger LOG = LoggerFactory.getLogger(NatsNetwork.class);
  private static final Codec<Question> QUESTION = Codec.of(Question.class);
  private static final Codec<Found> FOUND = Codec.of(Found.class);
  private static final int MAX_PARALLEL = 16;
  private static final long CACHE_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** @param key the key of the wanted entry, or empty for the entries of all nodes */
  record Question(Optional<String> key) {}

  /** An entry. */
  record Row(String key, byte[] value, long version) {
    Entry entry() {
      return new Entry(key, Optional.of(value), version);
    }
  }

  /** All that was found. */
  record Found(List<Row> rows) {}

  private final ProgramMessaging messages;
  private final NatsTable table;
  private final String keys; // of nodes
  private final Semaphore permits = new Semaphore(MAX_PARALLEL);
  private final ReentrantLock lock = new ReentrantLock();
  private Optional<Found> nodes = Optional.empty();
  private long read; // when, in nanoseconds

  private TableDirectory(ProgramMessaging messages, NatsTable table, String app) {
    this.messages = messages;
    this.table = table;
    this.keys = keys(app);
  }

  static String subject(String app) {
    return "fb." + app + ".d";
  }

  /** {@return the beginning of the keys of nodes} */
  static String keys(String app) {
    return "fb." + app + ".node.";
  }

  static byte[] question(Optional<String> key) {
    return QUESTION.encode(new Question(key));
  }

  static List<Row> rows(WireMessage answer) {
    return FOUND.decode(answer.body()).rows();
  }

  /** Until the connection is closed. */
  static void begin(ProgramMessaging messages, NatsTable table, String app) {
    messages.subscribe(subject(app), Optional.of("directory"), new TableDirectory(messages, table, app)::onQuestion);
  }

  /** On the thread of the subscription: a question too many gets no answer, and is asked again. */
  private void onQuestion(WireMessage question) {
    if (question.replyTo().isEmpty() || !permits.tryAcquire()) return;
    boolean begun = false;
    try {
      Thread.ofVirtual().name("directory").start(() -> answer(question));
      begun = true;
    } finally {
      if (!begun) permits.release();
    }
  }

  private void answer(WireMessage question) {
    try {
      var key = QUESTION.decode(question.body()).key();
      var found =
          key.isPresent() ? new Found(table.get(key.get()).map(TableDirectory::row).stream().toList()) : nodes();
      messages.publish(WireMessage.to(question.replyTo().orElseThrow(), Map.of(), FOUND.encode(found)));
    } catch (TransportException | CodecException | IllegalArgumentException failed) {
      LOG.debug("a question about the table was not answered", failed);
    } finally {
      permits.release();
    }
  }

  private Found nodes() {
    lock.lock();
    try {
      if (nodes.isEmpty() || System.nanoTime() - read > CACHE_NANOS) {
        nodes = Optional.of(new Found(table.list().keys().stream().filter(key -> key.startsWith(keys)).sorted()
            .flatMap(key -> table.get(key).stream()).map(TableDirectory::row).toList()));
        read = System.nanoTime();
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
