package io.fibry.cluster;

import io.fibry.cluster.Cluster.Member;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.codec.Codec;
import io.fibry.codec.CodecException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.LoggerFactory;

/**
 * The entry of a node in the table: it says that a life of the node has begun, or is over. The name
 * of this class is in its bytes.
 *
 * @param ended the last offers that ended, with the reason
 * @param lease after so long without a heartbeat the life is over; empty in entries of older nodes
 * @param over why the life is over, or empty while it is not
 */
record State(Member member, Map<String, String> ended, Optional<Duration> lease, Optional<String> over) {
  private static final Duration MIN_RETENTION = Duration.ofHours(1); // entries, by the server
  private static final Codec<State> CODEC = Codec.of(State.class);

  /** Returns an empty value if the entry is gone, or does not belong to a node. */
  static Optional<State> of(ClusterTransport.Entry entry) {
    try {
      return entry.value().map(CODEC::decode);
    } catch (CodecException foreign) {
      LoggerFactory.getLogger(Cluster.class).warn("the entry '{}' cannot be read", entry.key(), foreign);
      return Optional.empty();
    }
  }

  /**
   * Returns an empty value if the entry is gone, does not belong to a node, or says that the life
   * is over.
   */
  static Optional<Member> memberOf(ClusterTransport.Entry entry) {
    return of(entry).filter(one -> !one.isOver()).map(State::member);
  }

  /** {@return after so long the server drops the entry: not between two heartbeats} */
  static Duration retention(Duration lease) {
    return lease.compareTo(MIN_RETENTION) > 0 ? lease : MIN_RETENTION;
  }

  boolean isOver() {
    return over.isPresent();
  }

  byte[] bytes() {
    return CODEC.encode(this);
  }

  /**
   * Writes that the life is over. Called by its node, which has stopped, or by a node that saw no
   * heartbeat for a whole lease.
   *
   * @param version the last version that was seen
   * @return false if there was another heartbeat, or the entry is gone
   */
  boolean end(ClusterTransport engine, String key, long version, String why) {
    var gone = new Member(member.name(), member.id(), Set.of(), Set.of(), member.since()); // also for older nodes
    var next = new State(gone, Map.of(), lease, Optional.of(why));
    return engine.update(key, next.bytes(), version, MIN_RETENTION).isPresent();
  }
}
