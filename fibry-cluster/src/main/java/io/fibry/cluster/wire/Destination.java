package io.fibry.cluster.wire;

import io.fibry.cluster.spi.WireMessage;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * The subject and the ids of messages to an actor, or to the entities of a partition.
 *
 * @param name names the destination in logs and dumps
 * @param maxTells how many messages a bundle may have; if several nodes offer an actor, each bundle
 * goes to one of these nodes
 * @param subject the subject of the messages
 * @param cancelSubject the subject of cancellations, by which a node tells the other nodes that an
 * asker has stopped waiting for its answer
 * @param messageIds makes ids of messages. A node recognizes cancelled requests by their ids, and
 * also duplicates that the previous owner of a partition forwards
 * @param epoch the highest epoch of an owner of the partition that answered; 0 before an answer
 * @param absenceReason returns why no node receives the messages at the moment; empty if a node
 * should receive them, so that they are sent again
 */
public record Destination(String name, int maxTells, String subject, String cancelSubject, Supplier<String> messageIds,
    AtomicLong epoch, Supplier<Optional<String>> absenceReason) {
  private static final int MAX_TELLS_TO_PARTITION = 512;
  private static final int MAX_TELLS_TO_NAME = 8;
  public static final String KEY = "Fb-K"; // the key of the entity
  public static final String STORE = "Fb-Keep"; // asks the receiver to store the message, and to confirm that
  public static final String BUNDLE_SIZE = "Fb-N"; // the number of messages in a bundle
  public static final String DELIVER_PENDING = "Fb-Look"; // tells the owner that the store has a message for the entity
  public static final String PRESENCE_QUERY = "Fb-There"; // asks whether a node offers the actor
  public static final String MESSAGE_ID = "Fb-Id"; // the id of the message
  public static final String TIME_LEFT = "Fb-Ttl"; // how long the asker still waits, in milliseconds
  // In an answer, the epoch of its sender; in a request, the last epoch that its sender knows.
  public static final String EPOCH = "Fb-Epoch";
  public static final String ASKERS = "Fb-Chain"; // the actors whose handlers wait for the answer
  // The texts of the sender's context propagators; missing if there are none
  public static final String CONTEXT = "Fb-Ctx";
  public static final String FROM = "Fb-From"; // the node that published a message of a topic

  public static Destination toName(String name, Subjects subjects, Supplier<String> ids) {
    return new Destination("remote " + name, MAX_TELLS_TO_NAME, subjects.ofActor(name), subjects.ofCancellations(), ids,
        new AtomicLong(), () -> Optional.of("no node offers it"));
  }

  public static Destination toPartition(String kind, int partition, Subjects subjects, Supplier<String> ids,
      Supplier<Optional<String>> absenceReason) {
    return new Destination("remote " + kind + "/" + partition, MAX_TELLS_TO_PARTITION,
        subjects.ofPartition(kind, partition),
        subjects.ofCancellations(), ids, new AtomicLong(), absenceReason);
  }

  /**
   * {@return how long the asker still waits, in milliseconds; empty if the message has no limit}
   */
  public static Optional<Long> remainingMillis(WireMessage wire) {
    return parseNumber(wire, TIME_LEFT);
  }

  /**
   * Returns the limit of the handler. It is a little shorter than the limit of the asker, so that
   * the handler's time-out reaches the asker in time. Returns an empty value if the request has no
   * limit.
   */
  public static Optional<Duration> handlerLimit(WireMessage wire) {
    return remainingMillis(wire)
        .map(millis -> Duration.ofMillis(Math.max(1, millis - Math.clamp(millis / 20, 10, 100))));
  }

  /** {@return the last epoch that the sender knows, or 0 if it knows none} */
  public static long epochOf(WireMessage wire) {
    return parseNumber(wire, EPOCH).orElse(0L);
  }

  /** {@return the text of the context propagators of the sender, or an empty text} */
  public static String contextOf(WireMessage wire) {
    return wire.header(CONTEXT).orElse("");
  }

  private static Optional<Long> parseNumber(WireMessage wire, String header) {
    try {
      return wire.header(header).map(Long::parseLong);
    } catch (NumberFormatException failure) {
      return Optional.empty();
    }
  }

  /**
   * Remembers the epoch of the owner that answered. Later requests contain it, so that an earlier
   * owner does not handle them.
   */
  public void onAnswer(WireMessage answer) {
    epoch.accumulateAndGet(epochOf(answer), Math::max);
  }

  public Map<String, String> headers(Optional<String> key) {
    var headers = new HashMap<String, String>();
    key.ifPresent(text -> headers.put(KEY, text));
    headers.put(MESSAGE_ID, messageIds.get());
    return headers;
  }
}
