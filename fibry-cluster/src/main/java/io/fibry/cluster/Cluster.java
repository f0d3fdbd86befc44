package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Exitable;
import io.fibry.Handler;
import io.fibry.pubsub.Subscription;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.function.UnaryOperator;

/**
 * The nodes of an app, as this one sees them, and their actors. Thread-safe.
 *
 * <p>A far actor is an {@link Actor} like any other: {@code ask} waits for its answer, has a limit,
 * and ends in one of the known ways. Its messages, and their answers, need a form in bytes, as
 * {@link io.fibry.codec.Codec#of} says. What its handler throws arrives as a
 * {@link FarFailureException}; a request that does not get there fails with an
 * {@link UnreachableException}. {@code sendMessage} answers true when the message waits here to be
 * sent: it gets there once, or not at all.
 */
public sealed interface Cluster extends AutoCloseable permits Node {

  /**
   * All in this process, without a server. Messages become bytes all the same.
   *
   * @param app its name
   * @return a node that is alone
   */
  static Cluster local(String app) {
    return join(app, MemoryNetwork.create(), options -> options);
  }

  /**
   * Makes this process a node of an app.
   *
   * @param app its name: 1 to 64 lower-case letters, digits and hyphens, a letter first
   * @param network carries the messages
   * @param options changes the defaults
   * @return this node
   * @throws IllegalStateException if a node of this name is alive
   * @throws LostException if there is no connection
   */
  static Cluster join(String app, Network network, UnaryOperator<Options> options) {
    return Node.join(app, network, options.apply(Options.defaults()));
  }

  /**
   * A node that is alive.
   *
   * @param name of the node
   * @param id of its life: a node that ended and came back has another one
   * @param since when it joined, by its own clock
   */
  record Member(String name, String id, Instant since) {}

  /** {@return this node} */
  Member self();

  /** {@return all nodes that are alive, with this one, by their names} */
  List<Member> members();

  /**
   * Follows the members.
   *
   * @param follower gets those of now, and of each time they change; on a thread of its own
   * @return closing it ends that
   */
  Subscription followMembers(Handler<List<Member>> follower);

  /**
   * The address of an actor that some node offers, perhaps this one.
   *
   * @param <M> messages
   * @param name as it is offered
   * @param messages their type
   * @return valid as long as this node lives, also while nobody offers it. It cannot be ended from
   *     here, and takes no code: such calls throw an {@link UnsupportedOperationException}
   * @throws IllegalArgumentException if a message, or an answer, has no form in bytes
   */
  <M> Actor<M> actor(String name, Class<M> messages);

  /**
   * Lets all nodes send to an actor of this one. If several nodes offer a name, each message goes
   * to one of them.
   *
   * @param <M> messages
   * @param name 1 to 64 lower-case letters, digits and hyphens, a letter first
   * @param messages their type
   * @param actor gets them; the offer ends with it
   * @return closing it takes the offer back, after what has arrived; the actor goes on
   * @throws IllegalArgumentException if a message, or an answer, has no form in bytes
   * @throws IllegalStateException if this node offers the name already
   */
  <M> Exitable offer(String name, Class<M> messages, Actor<? super M> actor);

  /**
   * Leaves: offers end after what has arrived, then the others learn that this node is gone. Waits
   * for that.
   */
  @Override
  void close();

  /** How a node is. Immutable. */
  final class Options {
    private static final Duration LEAST_LEASE = Duration.ofSeconds(3);
    private final String node;
    private final Duration lease;
    private final Duration askLimit;
    private final ActorScope scope;

    private Options(String node, Duration lease, Duration askLimit, ActorScope scope) {
      this.node = node;
      this.lease = lease;
      this.askLimit = askLimit;
      this.scope = scope;
    }

    private static Options defaults() {
      return new Options("n" + UUID.randomUUID().toString().substring(0, 8), Duration.ofSeconds(6),
          Duration.ofSeconds(30), ActorSystem.root());
    }

    /**
     * The name of the node, which no other one has. It stays the same when the process is started
     * again.
     *
     * @param name 1 to 64 lower-case letters, digits and hyphens, a letter first
     * @return a changed copy
     */
    public Options withNode(String name) {
      return new Options(Subjects.checked("a node", name), lease, askLimit, scope);
    }

    /**
     * After this time without a sign, others take the node for gone. It gives a sign five times as
     * often.
     *
     * @param lease 6 seconds unless told; at least 3
     * @return a changed copy
     */
    public Options withLease(Duration lease) {
      if (Objects.requireNonNull(lease, "lease").compareTo(LEAST_LEASE) < 0) throw new IllegalArgumentException(
          "a lease of " + lease.toMillis() + " ms; give 3 seconds or more, since five signs must find the time");
      return new Options(node, lease, askLimit, scope);
    }

    /**
     * The limit of requests to other nodes that have no limit of their own.
     *
     * @param limit 30 seconds unless told
     * @return a changed copy
     */
    public Options withAskLimit(Duration limit) {
      if (!Objects.requireNonNull(limit, "limit").isPositive())
        throw new IllegalArgumentException("an ask limit of " + limit + " leaves no time; give more than zero");
      return new Options(node, lease, limit, scope);
    }

    /**
     * Where the actors of the library are that serve the node.
     *
     * @param scope it ends with this one; the root unless told
     * @return a changed copy
     */
    public Options withScope(ActorScope scope) {
      return new Options(node, lease, askLimit, Objects.requireNonNull(scope, "scope"));
    }

    String node() {
      return node;
    }

    Duration lease() {
      return lease;
    }

    Duration askLimit() {
      return askLimit;
    }

    ActorScope scope() {
      return scope;
    }
  }
}
