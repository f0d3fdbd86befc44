package io.fibry.nats.store;

import io.fibry.cluster.TransportException;
import io.fibry.nats.NatsNetwork;
import io.fibry.nats.NatsStore;
import io.fibry.nats.connection.AppSubjects;
import io.fibry.nats.connection.ConnectionErrors;
import io.fibry.nats.connection.NatsConnection;
import io.fibry.nats.connection.StoreSubjects;
import io.fibry.nats.stream.WriteOutcome;
import io.fibry.store.Store;
import io.fibry.text.Lines;
import io.fibry.text.SafeLogger;
import io.nats.client.Message;
import io.nats.client.impl.NatsMessage;
import io.nats.client.support.Encoding;
import io.nats.client.support.JsonParseException;
import io.nats.client.support.JsonParser;
import io.nats.client.support.JsonValueUtils;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;

/**
 * Deletes dead messages of a store for nodes that may not purge its stream. The NATS server checks
 * the subject of a call, not its body, which names the messages. So a node that may purge could
 * delete the whole stream. A node therefore sends the body of its call to the programs with the
 * role {@link NatsNetwork.Role#KEEPER}. One keeper compares the body with the stream, and calls the
 * server if no store reads the named messages any more.
 *
 * <p>A turn is dead if its actor is loaded from a later turn, and all views with a name have passed
 * it. A pending message is dead if the last entry of its actor names it as handled, or a later
 * message has its id. A snapshot is dead if there is a later snapshot.
 *
 * <p>Requests are checked on fibers, at most 64 at a time. Requests for one subject need no order:
 * a dead message stays dead, because the numbers of the stream only grow.
 */
public final class PurgeService {
  private static final Logger LOG = SafeLogger.of(NatsStore.class);
  private static final int MAX_PARALLEL = 64;

  private final StoreContext store;
  private final StreamHistoryCleaner historyCleaner;
  private final NatsConnection connection;
  private final Semaphore permits = new Semaphore(MAX_PARALLEL);

  private PurgeService(StoreContext store, StreamHistoryCleaner historyCleaner, NatsConnection connection) {
    this.store = store;
    this.historyCleaner = historyCleaner;
    this.connection = connection;
  }

  public static void begin(StoreContext store, StreamHistoryCleaner historyCleaner, NatsConnection connection) {
    connection.listen(new AppSubjects(connection.identity().app()).purges(), Optional.of("keepers"),
        new PurgeService(store, historyCleaner, connection)::onRequest);
  }

  /** Called on the thread of the subscription, which waits while 64 requests are in progress. */
  private void onRequest(Message request) throws InterruptedException {
    String replyTo = request.getReplyTo();
    // at another subject the reply could act as a call of the server, such as a purge of a stream
    if (replyTo == null || !connection.identity().isReplySubject(replyTo)) {
      LOG.warn("{} ignores a purge whose answer is to go to {}", store, Lines.escaped(String.valueOf(replyTo)));
      return;
    }
    permits.acquire();
    boolean isStarted = false;
    try {
      Thread.ofVirtual().name("purge for a node").start(() -> answer(request.getData(), replyTo));
      isStarted = true;
    } finally {
      if (!isStarted) permits.release();
    }
  }

  private void answer(byte[] call, String replyTo) {
    try {
      reply(replyTo, outcome(call));
    } catch (TransportException failure) { // the node repeats its request
      LOG.debug("{} could not send a node the outcome of its purge", store, failure);
    } finally {
      permits.release();
    }
  }

  private WriteOutcome outcome(byte[] call) {
    try {
      var json = JsonParser.parse(call);
      return purgeIfDead(JsonValueUtils.readString(json, "filter", ""), JsonValueUtils.readLong(json, "seq", 0) - 1);
    } catch (JsonParseException | IllegalArgumentException malformed) {
      return new WriteOutcome.WriteRejection("the body is no purge call", false);
    } catch (RuntimeException failure) { // the stream cannot be read
      return new WriteOutcome.RetryableFailure(ConnectionErrors.text(failure), false);
    }
  }

  private WriteOutcome purgeIfDead(String subject, long lastSeq) {
    if (!isDead(subject, lastSeq)) return new WriteOutcome.WriteRejection(
        "messages of " + Lines.escaped(subject) + " up to " + lastSeq + " are not known to be dead", false);
    var outcome = store.log().retryUntilSettled(() -> store.log().purge(subject, lastSeq));
    if (outcome instanceof WriteOutcome.WriteSuccess) onPurged(subject);
    return outcome;
  }

  /**
   * Called after a purge. A purged snapshot has been replaced by a later snapshot, so the history
   * cleaner checks whether it can delete old turns.
   */
  private void onPurged(String subject) {
    if (subject.startsWith(store.subjects().snapshotsPrefix()))
      historyCleaner.onSnapshotStored(StoreSubjects.actorId(subject).kind());
  }

  private boolean isDead(String subject, long lastSeq) {
    var subjects = store.subjects();
    if (lastSeq < 1 || !subjects.isOfOneActor(subject)) return false;
    var id = StoreSubjects.actorId(subject);
    if (subject.equals(subjects.turns(id)))
      return lastSeq < firstReadSeq(id) && historyCleaner.haveViewsPassed(id.kind(), lastSeq);
    if (subject.equals(subjects.snapshot(id))) return isReplaced(subject, lastSeq);
    return isHandled(id, StoreSubjects.messageId(subject), lastSeq) || isReplaced(subject, lastSeq);
  }

  private boolean isReplaced(String subject, long lastSeq) {
    return store.log().lastMessage(subject).filter(message -> message.getSeq() > lastSeq).isPresent();
  }

  /** {@return the number in the stream of the first message that is read to load the actor} */
  private long firstReadSeq(Store.ActorId id) {
    return store.log().lastMessage(store.subjects().turns(id)).map(message -> {
      var entry = JournalEntry.read(message);
      if (entry.number() == 0) return message.getSeq() + 1; // no turn was stored: the entry only begins a life
      return entry.from() == 0 ? message.getSeq() : entry.from();
    }).orElse(Long.MAX_VALUE);
  }

  private boolean isHandled(Store.ActorId id, String message, long lastSeq) {
    return store.log().lastMessage(store.subjects().turns(id)).map(JournalEntry::read).stream()
        .flatMap(entry -> entry.done().stream())
        .anyMatch(handled -> handled.id().equals(message) && handled.seq() >= lastSeq);
  }

  private void reply(String replyTo, WriteOutcome outcome) {
    connection.requests()
        .publish(NatsMessage.builder().subject(replyTo).data(text(outcome), StandardCharsets.UTF_8).build());
  }

  /** {@return the text of a reply, which is like the server's answer to a purge} */
  static String text(WriteOutcome outcome) {
    return switch (outcome) {
      case WriteOutcome.WriteSuccess success -> "{}";
      case WriteOutcome.WriteRejection rejection -> error(403, rejection.reason());
      case WriteOutcome.RetryableFailure failure -> error(503, failure.reason());
      // no known server answers so, but the node must get a reply in any case
      case WriteOutcome.WriteConflict conflict -> error(403, "the server compared numbers, which no purge gives it");
    };
  }

  private static String error(int code, String reason) {
    return "{\"error\":{\"code\":" + code + ",\"description\":\"" + Encoding.jsonEncode(reason) + "\"}}";
  }
}
