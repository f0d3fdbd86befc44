package io.fibry.cluster.membership;

import io.fibry.cluster.Cluster;
import io.fibry.cluster.Cluster.Member;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.codec.Codec;
import io.fibry.codec.CodecException;
import io.fibry.text.SafeLogger;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The entry of a node in the transport's table. It says that a life of the node, from joining to
 * leaving, has begun or is over. Entries name this type {@code State}, so the class can be renamed,
 * but not its components.
 *
 * @param ended why the node's exposed actors ended, by the name under which each was exposed; only
 * the latest of them
 * @param lease the time without a heartbeat after which the life is over; empty if the node runs a
 * version of Fibry that writes no lease
 * @param over why the life is over, or empty while it is not
 */
public record NodeState(Member member, Map<String, String> ended, Optional<Duration> lease, Optional<String> over) {
  private static final Duration MIN_RETENTION = Duration.ofHours(1); // of an entry on the server
  private static final Codec<NodeState> CODEC =
      Codec.of(NodeState.class, forms -> forms.named(NodeState.class, "State"));

  /**
   * Decodes an entry. Returns an empty value if it was deleted, or cannot be read (this is logged).
   */
  public static Optional<NodeState> of(ClusterTransport.Entry entry) {
    try {
      return entry.value().map(CODEC::decode);
    } catch (CodecException failure) {
      SafeLogger.of(Cluster.class).warn("the entry '{}' cannot be read", entry.key(), failure);
      return Optional.empty();
    }
  }

  /**
   * Returns the member of an entry. Returns an empty value if the entry was deleted, cannot be
   * read, or says that the life is over.
   */
  public static Optional<Member> memberOf(ClusterTransport.Entry entry) {
    return of(entry).filter(state -> !state.isOver()).map(NodeState::member);
  }

  /** {@return how long the server keeps an entry without a heartbeat: at least the lease} */
  static Duration retention(Duration lease) {
    return lease.compareTo(MIN_RETENTION) > 0 ? lease : MIN_RETENTION;
  }

  public boolean isOver() {
    return over.isPresent();
  }

  public byte[] bytes() {
    return CODEC.encode(this);
  }

  /**
   * Writes that the life is over. Called by its node, which has stopped, or by a node that saw no
   * heartbeat for a whole lease.
   *
   * @param version the last version that was seen
   * @return whether it was written; false if there was another heartbeat, or the entry is missing
   */
  public boolean end(ClusterTransport transport, String key, long version, String reason) {
    // without hosts and exposed actors, because nodes of an older version ignore `over`
    var emptyMember = new Member(member.name(), member.id(), Set.of(), Set.of(), member.since());
    var next = new NodeState(emptyMember, Map.of(), lease, Optional.of(reason));
    return transport.update(key, next.bytes(), version, MIN_RETENTION).isPresent();
  }
}
