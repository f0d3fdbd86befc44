package io.fibry.nats.store;

import io.fibry.nats.connection.StoreSubjects;
import io.fibry.nats.store.JournalEntry.Done;
import io.fibry.nats.stream.JetStreamLog;
import io.fibry.nats.stream.JetStreamLog.StreamMessage;
import io.fibry.nats.stream.WriteOutcome;
import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend.PendingMessage;
import io.nats.client.api.MessageInfo;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * The pending messages of an actor. Each id has a subject of its own, so that a later message with
 * the same id replaces an earlier one. A turn names the messages that it has handled. These
 * messages are purged afterwards, and hidden until then. Each read asks the server, because other
 * stores send messages, too. Thread-safe.
 */
public final class PendingMessages {
  private static final int MAX_AT_ONCE = 256; // max messages that one call reads together, and max purges in flight

  /** The number of a message in the stream, and its due time. */
  record MessagePosition(long seq, Instant due) {
    private MessagePosition latest(MessagePosition other) {
      return seq > other.seq ? this : other;
    }
  }

  /**
   * The messages that a read hides. Each of the two maps gives, by id, the number in the stream up
   * to which messages were handled. A purge removes an id from {@code handledNow}. {@code
   * handledBefore} is a copy from before the read, because the read may return a message that was
   * purged during the read.
   */
  private record HiddenMessages(Map<String, Long> handledBefore, Map<String, Long> handledNow) {
    boolean has(MessageInfo message) {
      String id = StoreSubjects.messageId(message.getSubject());
      return handledBefore.getOrDefault(id, 0L) >= message.getSeq()
          || handledNow.getOrDefault(id, 0L) >= message.getSeq();
    }
  }

  private final JetStreamLog log;
  private final StoreSubjects subjects;
  private final Store.ActorId id;
  // the known messages, by id; other stores may have removed some
  private final Map<String, MessagePosition> positions = new ConcurrentHashMap<>();
  // by id: the number in the stream up to which messages were handled and not purged yet
  private final Map<String, Long> handledSeqs = new ConcurrentHashMap<>();
  private final Map<String, CompletableFuture<Void>> removals = new ConcurrentHashMap<>(); // running purges, by id
  private volatile boolean isAlive; // a life has begun here, so no other store should handle messages
  private volatile boolean isComplete; // positions has all messages that were present when the life began

  public PendingMessages(JetStreamLog log, StoreSubjects subjects, Store.ActorId id) {
    this.log = log;
    this.subjects = subjects;
    this.id = id;
  }

  private String subject(String messageId) {
    return subjects.message(id, messageId);
  }

  StreamMessage toStreamMessage(PendingMessage message) {
    return new StreamMessage(subjects.message(message.to(), message.id()), Optional.of(message.due()), message.body());
  }

  // ---- present messages

  /** Returns the last message of each id, in the order in which they were stored. */
  private List<MessageInfo> loadAll() {
    var hidden = hiddenMessages();
    return loadAll(log.countBySubject(subjects.messagesFilter(id)), hidden);
  }

  private List<MessageInfo> loadAll(Map<String, Long> countsBySubject, HiddenMessages hidden) {
    return filterVisible(log.lastMessages(countsBySubject.keySet()).stream(), hidden)
        .sorted(Comparator.comparingLong(MessageInfo::getSeq))
        .toList();
  }

  /** Called before a read. The result also hides messages that are handled during the read. */
  private HiddenMessages hiddenMessages() {
    return new HiddenMessages(Map.copyOf(handledSeqs), handledSeqs);
  }

  private Stream<MessageInfo> filterVisible(Stream<MessageInfo> messages, HiddenMessages hidden) {
    return messages.filter(message -> !hidden.has(message)).peek(this::notePending);
  }

  private void notePending(MessageInfo message) {
    notePending(StoreSubjects.messageId(message.getSubject()), message.getSeq(), JetStreamLog.readDueTime(message));
  }

  /** Notes the position of a pending message. */
  void notePending(String messageId, long seq, Instant due) {
    positions.merge(messageId, new MessagePosition(seq, due), MessagePosition::latest);
  }

  public List<PendingMessage> pending(Instant until, int max) {
    var hidden = hiddenMessages();
    var countsBySubject = log.countBySubject(subjects.messagesFilter(id));
    if (countsBySubject.isEmpty()) return List.of();
    boolean isOnePerId = countsBySubject.values().stream().allMatch(count -> count == 1); // no id has two messages
    var messages = isOnePerId && countsBySubject.size() > MAX_AT_ONCE ? loadDue(until, max, hidden)
        : loadAll(countsBySubject, hidden);
    return messages.stream().filter(message -> !JetStreamLog.readDueTime(message).isAfter(until)).limit(max)
        .map(message -> new PendingMessage(id, StoreSubjects.messageId(message.getSubject()),
            JetStreamLog.readDueTime(message),
            body(message)))
        .toList();
  }

  /**
   * Reads the messages that are due, one after the other. Drops a message that another message with
   * the same id replaces during the read.
   */
  private List<MessageInfo> loadDue(Instant until, int max, HiddenMessages hidden) {
    var messagesBySubject = new LinkedHashMap<String, MessageInfo>();
    String filter = subjects.messagesFilter(id);
    for (var message = log.nextMessage(filter, 1); message.isPresent() && messagesBySubject.size() < max; message =
        log.nextMessage(filter, message.get().getSeq() + 1)) {
      messagesBySubject.remove(message.get().getSubject());
      if (!JetStreamLog.readDueTime(message.get()).isAfter(until)) filterVisible(message.stream(), hidden)
          .forEach(visible -> messagesBySubject.put(visible.getSubject(), visible));
    }
    return List.copyOf(messagesBySubject.values());
  }

  private static byte[] body(MessageInfo message) {
    return message.getData() == null ? new byte[0] : message.getData();
  }

  public Optional<Instant> dueTime(String messageId) {
    var hidden = hiddenMessages();
    return log.lastMessage(subject(messageId)).filter(message -> !hidden.has(message)).map(JetStreamLog::readDueTime);
  }

  public Optional<Instant> nextDueTime(Instant after) {
    return loadAll().stream().map(JetStreamLog::readDueTime).filter(after::isBefore).min(Instant::compareTo);
  }

  /** Returns the messages that this process knows, by id. */
  Map<String, MessagePosition> positions() {
    return positions;
  }

  /**
   * Returns the ids of all present messages, and notes their positions. Both are outdated as soon
   * as another store sends or handles a message.
   */
  List<String> loadIds() {
    // only these positions may be removed: a message that is noted during the read may be missing
    // in the result
    var knownBefore = Map.copyOf(positions);
    var ids = loadAll().stream().map(info -> StoreSubjects.messageId(info.getSubject())).toList();
    var present = Set.copyOf(ids);
    knownBefore.forEach((messageId, position) -> {
      if (!present.contains(messageId)) positions.remove(messageId, position);
    });
    isComplete = isAlive;
    return ids;
  }

  boolean isComplete() {
    return isComplete;
  }

  public boolean isBeingRemoved(String messageId, long seq) {
    return handledSeqs.getOrDefault(messageId, 0L) >= seq;
  }

  // ---- handled messages

  private void hideHandled(List<Done> handled) {
    for (var message : handled) handledSeqs.merge(message.id(), message.seq(), Math::max);
  }

  /** Hides and purges the messages that the last turns have handled, also turns of other stores. */
  public void removeHandled(List<Done> handled) {
    hideHandled(handled);
    retryRemovals();
  }

  /**
   * Begins a life, and purges the messages that the last turns have handled. The positions are
   * kept, because a limit of pending messages is checked against their number ({@link
   * MessageWriter}). {@link #loadIds} removes outdated positions.
   */
  void beginLife(List<Done> handled) {
    isComplete = false;
    isAlive = true;
    removeHandled(handled);
  }

  /** Ends the life. Tries again to purge handled messages, and waits for the running purges. */
  void endLife() {
    isAlive = false;
    isComplete = false;
    finishRemovals();
  }

  /**
   * Returns the messages with these ids that are present. A message whose position is known counts
   * as present, although another store may have removed it.
   */
  List<Done> findPresent(Collection<String> ids) {
    var present = new ArrayList<Done>(ids.size());
    var unknownSubjects = new ArrayList<String>();
    for (var messageId : ids) {
      var position = positions.get(messageId);
      if (position == null) unknownSubjects.add(subject(messageId));
      else present.add(new Done(messageId, position.seq));
    }
    if (!unknownSubjects.isEmpty())
      for (var message : log.lastMessages(unknownSubjects))
        present.add(new Done(StoreSubjects.messageId(message.getSubject()), message.getSeq()));
    return present;
  }

  /** Tries again to purge handled messages, and returns the messages that are not purged yet. */
  List<Done> retryAndListUnpurged() {
    retryRemovals();
    return handledSeqs.entrySet().stream().map(handled -> new Done(handled.getKey(), handled.getValue())).toList();
  }

  /** Hides and purges messages. Called when the turn that handled them is stored. */
  void remove(List<Done> handled) {
    hideHandled(handled);
    for (var message : handled) {
      positions.computeIfPresent(message.id(), (key, position) -> position.seq <= message.seq() ? null : position);
      purge(message.id(), handledSeqs.get(message.id()));
    }
  }

  /**
   * Removes messages that could not be removed before, a few at a time, because there may be
   * thousands.
   */
  private void retryRemovals() {
    for (var entry : handledSeqs.entrySet()) {
      if (removals.size() >= MAX_AT_ONCE) return;
      if (!removals.containsKey(entry.getKey())) purge(entry.getKey(), entry.getValue());
    }
  }

  private void purge(String messageId, Long seq) {
    if (seq == null) return; // another thread has purged the message
    var removal = log.purge(subject(messageId), seq).thenAccept(outcome -> {
      if (outcome instanceof WriteOutcome.WriteSuccess) handledSeqs.remove(messageId, seq);
    });
    removals.put(messageId, removal);
    removal.whenComplete((result, failure) -> removals.remove(messageId, removal));
  }

  /**
   * Purges the earlier messages with an id, because a later message replaced them.
   *
   * @param seq the number of the later message in the stream
   */
  void removeBefore(String messageId, long seq) {
    log.purge(subject(messageId), seq - 1);
  }

  /**
   * Purges the remaining messages in at most two rounds, and waits for all running purges. A later
   * life purges messages that are left after that.
   */
  private void finishRemovals() {
    for (int round = 0; round < 2 && !handledSeqs.isEmpty(); round++) {
      retryRemovals();
      for (var removal : List.copyOf(removals.values())) removal.handle((result, failure) -> result).join();
    }
  }
}
