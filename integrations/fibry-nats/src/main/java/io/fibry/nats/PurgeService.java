package io.fibry.nats;

import io.fibry.cluster.TransportException;
import io.fibry.store.Store;
import io.fibry.text.Lines;
import io.nats.client.Message;
import io.nats.client.impl.NatsMessage;
import io.nats.client.support.JsonParseException;
import io.nats.client.support.JsonParser;
import io.nats.client.support.JsonValueUtils;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes dead messages of a store for nodes that may not. The server cannot restrict a purge to
 * some messages of a stream, because they are named in the body of the call. A node sends that body
 * to the keepers of its app instead. One of them compares it with the stream, and calls the server
 * if no store reads those messages any more. Turns are dead before the turn from which their actor
 * is read. A waiting message is dead if the last turn has done it, or a later message has its id; a
 * snapshot is dead if there is a later one.
 *
 * <p>Requests are checked on fibers, at most 64 at a time. Two that concern one subject need no
 * order: a message that is dead remains so, because the stream's numbers only grow.
 */
final class PurgeService {
  private static final Logger LOG = LoggerFactory.getLogger(NatsStore.class);
  private static final int MAX_PARALLEL = 64;

  private final StreamStore store;
  private final NatsConnection connection;
  private final Semaphore places = new Semaphore(MAX_PARALLEL);

  private PurgeService(StreamStore store, NatsConnection connection) {
    this.store = store;
    this.connection = connection;
  }

  /** {@return where nodes ask} */
  static String subject(String app) {
    return "fb." + app + ".k";
  }

  static void begin(StreamStore store, NatsConnection connection) {
    connection.listen(subject(connection.identity().app()), Optional.of("keepers"),
        new PurgeService(store, connection)::onRequest);
  }

  /** On the thread of the subscription, which waits if too many are in progress. */
  private void onRequest(Message asked) throws InterruptedException {
    String to = asked.getReplyTo();
    if (to == null || !connection.identity().isAnswered(to)) { // it could be a call of the server
      LOG.warn("{} ignores a purge whose answer is to go to {}", store, Lines.escaped(String.valueOf(to)));
      return;
    }
    places.acquire();
    boolean begun = false;
    try {
      Thread.ofVirtual().name("purge for others").start(() -> purge(asked.getData(), to));
      begun = true;
    } finally {
      if (!begun) places.release();
    }
  }

  private void purge(byte[] call, String to) {
    try {
      answer(to, outcome(call));
    } catch (TransportException cut) { // the node asks again
      LOG.debug("{} did not tell a node what became of its purge", store, cut);
    } finally {
      places.release();
    }
  }

  private WriteOutcome outcome(byte[] call) {
    try {
      var json = JsonParser.parse(call);
      return purge(JsonValueUtils.readString(json, "filter", ""), JsonValueUtils.readLong(json, "seq", 0) - 1);
    } catch (JsonParseException | IllegalArgumentException foreign) {
      return new WriteOutcome.WriteRejection("that is no call of a purge", false);
    } catch (RuntimeException failure) { // the stream cannot be read
      return new WriteOutcome.RetryableFailure(ConnectionErrors.text(failure), false);
    }
  }

  private WriteOutcome purge(String subject, long last) {
    if (!isDead(subject, last)) return new WriteOutcome.WriteRejection(
        "messages of " + Lines.escaped(subject) + " up to " + last + " are not known to be dead", false);
    var purged = store.log().settle(() -> store.log().purge(subject, last));
    if (purged instanceof WriteOutcome.WriteSuccess) purgedSnapshot(subject);
    return purged;
  }

  /** A node has stored a snapshot, so there may be old turns before it. */
  private void purgedSnapshot(String subject) {
    if (subject.startsWith(store.subjects().allSnapshots()))
      store.historyCleaner().onSnapshotStored(StoreSubjects.actor(subject).kind());
  }

  private boolean isDead(String subject, long last) {
    var subjects = store.subjects();
    if (last < 1 || !subjects.isOfOne(subject)) return false;
    var id = StoreSubjects.actor(subject);
    if (subject.equals(subjects.turns(id))) return last < firstRead(id);
    if (subject.equals(subjects.snapshot(id))) return isReplaced(subject, last);
    return isDone(id, StoreSubjects.message(subject), last) || isReplaced(subject, last);
  }

  private boolean isReplaced(String subject, long last) {
    return store.log().lastMessage(subject).filter(one -> one.getSeq() > last).isPresent();
  }

  /** {@return the number of the first message that is read with the actor} */
  private long firstRead(Store.ActorId id) {
    return store.log().lastMessage(store.subjects().turns(id)).map(one -> {
      var entry = JournalEntry.read(one);
      if (entry.number() == 0) return one.getSeq() + 1; // it says only that the actor was read
      return entry.from() == 0 ? one.getSeq() : entry.from();
    }).orElse(Long.MAX_VALUE);
  }

  private boolean isDone(Store.ActorId id, String message, long last) {
    return store.log().lastMessage(store.subjects().turns(id)).map(JournalEntry::read).stream()
        .flatMap(entry -> entry.done().stream()).anyMatch(done -> done.id().equals(message) && done.seq() >= last);
  }

  private void answer(String to, WriteOutcome outcome) {
    String text = switch (outcome) {
      case WriteOutcome.WriteSuccess here -> "{}";
      case WriteOutcome.WriteRejection refused -> error(403, refused.reason());
      case WriteOutcome.RetryableFailure again -> error(503, again.reason());
      case WriteOutcome.WriteConflict outdated -> throw new AssertionError(outdated);
    };
    connection.requests().publish(NatsMessage.builder().subject(to).data(text, StandardCharsets.UTF_8).build());
  }

  private static String error(int code, String why) {
    return "{\"error\":{\"code\":" + code + ",\"description\":\""
        + why.replace("\\", "\\\\").replace("\"", "\\\"") + "\"}}";
  }
}
