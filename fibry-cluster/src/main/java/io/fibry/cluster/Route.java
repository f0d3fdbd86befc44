package io.fibry.cluster;

import io.fibry.cluster.spi.WireMessage;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * Where messages to an actor, or to the entities of a part, go to.
 *
 * @param name for people
 * @param maxTells messages that go together: where nodes share the work, it is shared in such
 * pieces
 * @param subject of the messages
 * @param cancelSubject subject of what says that an answer is not awaited any more
 * @param ids makes ids of messages; by these a node recognizes duplicates, which come by way of the
 * node that gave the part away, and withdrawn requests
 * @param epoch the epoch of the last owner of the part that answered, or 0
 * @param absenceReason says why no node gets the messages at the moment; empty if a node should, so that
 * they are sent again
 */
record Route(String name, int maxTells, String subject, String cancelSubject, Supplier<String> ids,
    AtomicLong epoch, Supplier<Optional<String>> absenceReason) {
  private static final int MAX_TELLS = 256;
  private static final int MAX_TELLS_TO_PARTITION = 8;
  static final String KEY = "Fb-K";
  static final String KEEP = "Fb-Keep"; // its sender is told whether it is stored
  static final String TELLS = "Fb-N"; // the number of messages without answers
  static final String DELIVER_PENDING = "Fb-Look"; // something waits at the store
  static final String PRESENCE = "Fb-There"; // is anybody?
  static final String ID = "Fb-Id";
  static final String TIME_LEFT = "Fb-Ttl"; // milliseconds
  static final String EPOCH = "Fb-Epoch"; // version by which the sender of an answer owns the part; and the last known
  static final String ASKERS = "Fb-Chain"; // the actors that wait for the answer
  static final String CONTEXT = "Fb-Ctx"; // the texts of the sender's carriers; missing if they wrote none
  static final String FROM = "Fb-From"; // the node that published news

  static Route toName(String name, Subjects subjects, Supplier<String> ids) {
    return new Route("far " + name, MAX_TELLS_TO_PARTITION, subjects.ofName(name), subjects.ofCancel(), ids,
        new AtomicLong(), () -> Optional.of("no node offers it"));
  }

  static Route toPartition(String kind, int part, Subjects subjects, Supplier<String> ids,
      Supplier<Optional<String>> absent) {
    return new Route("far " + kind + "/" + part, MAX_TELLS, subjects.ofPartition(kind, part), subjects.ofCancel(), ids,
        new AtomicLong(), absent);
  }

  /** How long its sender waits, in milliseconds. */
  static Optional<Long> timeLeft(WireMessage wire) {
    return number(wire, TIME_LEFT);
  }

  /** Returns the epoch of the last owner of the part that the sender knows, or 0. */
  static long epoch(WireMessage wire) {
    return number(wire, EPOCH).orElse(0L);
  }

  /** {@return the texts that the carriers of the sender wrote, or an empty text} */
  static String context(WireMessage wire) {
    return wire.header(CONTEXT).orElse("");
  }

  private static Optional<Long> number(WireMessage wire, String header) {
    try {
      return wire.header(header).map(Long::parseLong);
    } catch (NumberFormatException foreign) {
      return Optional.empty();
    }
  }

  /** Remembers the owner that answered, so that an earlier one handles no further request. */
  void onAnswer(WireMessage answer) {
    epoch.accumulateAndGet(epoch(answer), Math::max);
  }

  Map<String, String> headers(Optional<String> key) {
    var headers = new HashMap<String, String>();
    key.ifPresent(text -> headers.put(KEY, text));
    headers.put(ID, ids.get());
    return headers;
  }
}
