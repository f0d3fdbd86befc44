package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Exitable;
import io.fibry.Handler;
import io.fibry.durable.Durable;
import io.fibry.pool.Entities;
import io.fibry.pubsub.Subscription;
import io.fibry.pubsub.Topic;
import io.fibry.store.Store;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;

/**
 * The nodes of an app, as this one sees them, and their actors. Thread-safe.
 *
 * <p>A far actor is an {@link Actor} like any other: {@code ask} waits for its answer, has a limit,
 * and ends in one of the known ways. Its messages, and their answers, need a form in bytes, as
 * {@link io.fibry.codec.Codec#of} says. An exception of its handler arrives as a
 * {@link RemoteFailureException}. A request that does not arrive fails with an
 * {@link UnreachableException}, and so does, within a lease, a request that no node can answer any
 * more. {@code sendMessage} returns true when the message waits here to be sent. It arrives once,
 * or becomes a dead letter of this node, which says why.
 */
public sealed interface Cluster extends AutoCloseable permits ClusterNode {

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
   * @throws IllegalStateException if a node of this name is alive, or if the thread is interrupted
   * or the scope closed while this waits for the end of a killed node's lease
   * @throws TransportException if there is no connection
   */
  static Cluster join(String app, ClusterNetwork network, UnaryOperator<Options> options) {
    return ClusterNode.join(app, network, options.apply(Options.defaults(network)));
  }

  /**
   * A node that is alive.
   *
   * @param name of the node
   * @param id of its life: a node that ended and came back has another one
   * @param hosts the kinds of entities that it hosts
   * @param offers the names that it offers actors by
   * @param since when it joined, by its own clock
   */
  record Member(String name, String id, Set<String> hosts, Set<String> offers, Instant since) {}

  /** {@return the name of all nodes together} */
  String app();

  /** {@return this node} */
  Member self();

  /** {@return all nodes that are alive, with this one unless it can only ask, by their names} */
  List<Member> members();

  /**
   * Follows the members.
   *
   * @param follower gets the present members, and the members after each change, on a thread of its
   * own
   * @return closing it ends that
   */
  Subscription watchMembers(Handler<List<Member>> follower);

  /**
   * How a node is.
   *
   * @param isAlive others count on it, as far as it knows; otherwise it answers for no entity
   * @param connectionProblem why no message leaves at the moment, or empty if the node is connected
   * @param partitions how many of the parts of each kind have their home here
   * @param pendingRequests requests of other nodes that are not answered yet
   */
  record Health(boolean isAlive, Optional<String> connectionProblem, Map<String, Integer> partitions,
      int pendingRequests) {}

  /** {@return how this node is, for what watches it} */
  Health health();

  /** {@return the health as a text for people, with the members and the messages under way} */
  String dump();

  /**
   * The address of an actor that some node offers, perhaps this one. It has ended when no node
   * offers it: {@code onExit} and watches tell the reason, or {@code Failed} with a
   * {@link TransportException} if the node is gone.
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
   * @return closing it withdraws the offer, after messages that have arrived; the actor lives on
   * @throws IllegalArgumentException if a message, or an answer, has no form in bytes
   * @throws IllegalStateException if this node offers the name already
   */
  <M> Exitable expose(String name, Class<M> messages, Actor<? super M> actor);

  /**
   * News for all nodes: all who have subscribed when they are published get them once, in the order
   * of each publisher. They are lost for a node that is cut off meanwhile. Subscribers are of this
   * node; while their mailboxes let the topic wait, more than 1,024 news drop the oldest.
   *
   * @param <M> news
   * @param name 1 to 64 lower-case letters, digits and hyphens, a letter first
   * @param messages their type
   * @return the same for this node, until it is closed. Its {@code publish} throws a
   *     {@link TransportException} if a message did not leave
   * @throws IllegalArgumentException if a message has no form in bytes
   * @throws IllegalStateException if this node has the topic with another type
   */
  <M> Topic<M> topic(String name, Class<M> messages);

  /**
   * Work for all nodes, which waits in the network until a worker of some node has done it.
   *
   * @param <M> work
   * @param name 1 to 64 lower-case letters, digits and hyphens, a letter first
   * @param work its type
   * @return to put work, and to do it
   * @throws IllegalArgumentException if work has no form in bytes
   * @throws TransportException if there is no connection, or the network refuses it
   */
  <M> WorkQueue<M> queue(String name, Class<M> work);

  /**
   * The addresses of the entities of a kind, wherever they live.
   *
   * @param <M> messages
   * @param kind 1 to 64 lower-case letters, digits and hyphens, a letter first
   * @param messages their type
   * @return valid as long as this node lives, even while no node hosts the kind. A key is a text of
   * 1 to 512 bytes. Its actor cannot be ended from here, and takes no code; {@code size()} is that
   * of this node
   * @throws IllegalArgumentException if a message, or an answer, has no form in bytes
   * @throws IllegalStateException if other nodes have split the kind into another number of parts
   */
  <M> Entities<String, M> entities(String kind, Class<M> messages);

  /**
   * Makes this node a host of its share of the entities of a kind. All nodes that are share the
   * keys. They move when nodes come and go: an entity that moves has handled what waited for it,
   * and has ended, before it begins at its next home. No message is lost or handled twice on the
   * way. If a node crashes, messages that waited there are lost, and its keys get another home when
   * its lease is over.
   *
   * @param <M> messages
   * @param <B> messages of the builder
   * @param kind 1 to 64 lower-case letters, digits and hyphens, a letter first
   * @param messages their type
   * @param how births make actors; the entities end before its scope
   * @param idle as of {@link Entities#open}
   * @param birth makes an entity; the state that it had at another node is gone, unless it stores
   * it
   * @return their addresses, wherever they live; closing it gives all that live here away, and
   * waits for that
   * @throws IllegalArgumentException if a message, or an answer, has no form in bytes
   * @throws IllegalStateException if this node hosts the kind already, or other nodes have split it
   * into another number of parts
   */
  <M, B> Entities<String, M> host(String kind, Class<M> messages, ActorBuilder<B> how, Duration idle,
      BiFunction<ActorBuilder<B>, String, Actor<M>> birth);

  /**
   * The addresses of durable entities, wherever they live. If the kind keeps messages, {@code
   * sendMessage} is true when the message is stored: it is handled, though nodes may end.
   *
   * @param <M> messages
   * @param kind their definition, the same for all nodes
   * @return as of {@link #entities(String, Class)}
   * @throws IllegalArgumentException if a message, or an answer, has no form in bytes
   * @throws IllegalStateException if other nodes have split the kind into another number of parts
   */
  <M> Entities<String, M> entities(Durable<M> kind);

  /**
   * Makes this node a host of its share of the durable entities of a kind. Their state is in a
   * store that all nodes reach, such as a database: an entity continues at its next home as if it
   * had stayed. A node that was declared dead answers no request, and its later turns are refused.
   *
   * @param <M> messages
   * @param kind their definition, the same for all nodes
   * @param store where they are kept, for all nodes; closed after this node
   * @param how makes actors; the entities end before its scope
   * @param idle as of {@link Durable#entities}
   * @return as of {@link #host(String, Class, ActorBuilder, Duration, BiFunction)}, and
   * {@link #entities(Durable)}
   * @throws IllegalArgumentException if a message, or an answer, has no form in bytes
   * @throws IllegalStateException if this node hosts the kind already, or other nodes have split it
   * into another number of parts
   */
  <M> Entities<String, M> host(Durable<M> kind, Store store, ActorBuilder<? super M> how, Duration idle);

  /**
   * Makes this node a host, with the {@link #store} of the network.
   *
   * @param <M> messages
   * @param kind their definition, the same for all nodes
   * @param how makes actors; the entities end before its scope
   * @param idle as there
   * @return as there
   */
  default <M> Entities<String, M> host(Durable<M> kind, ActorBuilder<? super M> how, Duration idle) {
    return host(kind, store(), how, idle);
  }

  /**
   * Returns the store of the network, which all nodes share: in memory as long as the network
   * exists, or in a stream of JetStream.
   *
   * @return for durable actors, views and copies; it is closed with this node
   * @throws TransportException if there is no connection, or the network refuses it
   * @throws IllegalStateException if the existing store cannot be used
   */
  Store store();

  /**
   * Leaves: gives its entities away, offers end after what has arrived, then the others learn that
   * this node is gone. Waits for that.
   */
  @Override
  void close();

  /** How a node is. Immutable. */
  final class Options {
    private static final int MAX_PARTITIONS = 4_096;
    private static final Duration MIN_LEASE = Duration.ofSeconds(3);
    private final String node;
    private final Duration lease;
    private final Optional<Duration> askLimit; // empty: that of the scope
    private final int partitions;
    private final ActorScope scope;
    private final InstantSource wallClock;
    private final Duration settleTime;

    private Options(String node, Duration lease, Optional<Duration> askLimit, int partitions, ActorScope scope,
        InstantSource wall, Duration settleTime) {
      this.node = node;
      this.lease = lease;
      this.askLimit = askLimit;
      this.partitions = partitions;
      this.scope = scope;
      this.wallClock = wall;
      this.settleTime = settleTime;
    }

    static Options defaults(ClusterNetwork network) {
      return new Options("n" + UUID.randomUUID().toString().substring(0, 8),
          Objects.requireNonNull(network, "network").lease(),
          Optional.empty(), 256, ActorSystem.root(), InstantSource.system(),
          Duration.ofSeconds(2));
    }

    /**
     * The name of the node, which no other one has. It stays the same when the process is started
     * again. If the process before was killed, {@link Cluster#join} waits until its lease expires.
     *
     * @param name 1 to 64 lower-case letters, digits and hyphens, a letter first
     * @return a changed copy
     */
    public Options withNode(String name) {
      return new Options(Subjects.checkName("a node", name), lease, askLimit, partitions, scope, wallClock, settleTime);
    }

    /**
     * After this time without a heartbeat, others declare the node dead, and requests that it had
     * fail. It sends five heartbeats in this time.
     *
     * @param lease at least 3 seconds; by default as the network says: 6 seconds, or 20 with
     * several servers of NATS, which may need 10 to elect a leader
     * @return a changed copy
     */
    public Options withLease(Duration lease) {
      if (Objects.requireNonNull(lease, "lease").compareTo(MIN_LEASE) < 0) throw new IllegalArgumentException(
          "a lease of " + lease.toMillis() + " ms; give 3 seconds or more, since five signs must find the time");
      return new Options(node, lease, askLimit, partitions, scope, wallClock, settleTime);
    }

    /**
     * The limit of requests to other nodes that have no limit of their own.
     *
     * @param limit by default the limit of the scope
     * @return a changed copy
     */
    public Options withAskLimit(Duration limit) {
      if (!Objects.requireNonNull(limit, "limit").isPositive())
        throw new IllegalArgumentException("an ask limit of " + limit + " leaves no time; give more than zero");
      return new Options(node, lease, Optional.of(limit), partitions, scope, wallClock, settleTime);
    }

    /**
     * Into how many parts the keys of a kind are split, which are what moves between nodes. All
     * nodes have the same number, for ever.
     *
     * @param partitions 1 to 4,096; by default 256, enough for some dozens of nodes
     * @return a changed copy
     */
    public Options withPartitions(int partitions) {
      if (partitions < 1 || partitions > MAX_PARTITIONS) throw new IllegalArgumentException(
          partitions + " parts; take 1 to " + MAX_PARTITIONS + ", and several for each node that there may ever be");
      return new Options(node, lease, askLimit, partitions, scope, wallClock, settleTime);
    }

    /** For tests. */
    Options withWallClock(InstantSource wall) {
      return new Options(node, lease, askLimit, partitions, scope, wall, settleTime);
    }

    /**
     * Where the actors of the library are that serve the node.
     *
     * @param scope the node ends with it; by default the root scope
     * @return a changed copy
     */
    public Options withScope(ActorScope scope) {
      return new Options(node, lease, askLimit, partitions, Objects.requireNonNull(scope, "scope"), wallClock,
          settleTime);
    }

    int partitions() {
      return partitions;
    }

    /** For tests: how long to wait when nodes came and went. */
    Options withSettleTime(Duration settleTime) {
      return new Options(node, lease, askLimit, partitions, scope, wallClock, settleTime);
    }

    Duration settleTime() {
      return settleTime;
    }

    InstantSource wallClock() {
      return wallClock;
    }

    String node() {
      return node;
    }

    Duration lease() {
      return lease;
    }

    Optional<Duration> askLimit() {
      return askLimit;
    }

    ActorScope scope() {
      return scope;
    }
  }
}
