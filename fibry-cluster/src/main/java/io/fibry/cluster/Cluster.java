package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Exitable;
import io.fibry.Handler;
import io.fibry.cluster.wire.Subjects;
import io.fibry.durable.Durable;
import io.fibry.pool.Entities;
import io.fibry.pubsub.Subscription;
import io.fibry.pubsub.Topic;
import io.fibry.store.Store;
import io.fibry.text.Durations;
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
 * The nodes of an app, as this node sees them, and their actors. Thread-safe.
 *
 * <p>A remote actor is an {@link Actor} like any other: {@code ask} waits for its answer, has a
 * limit, and fails as for a local actor. Its messages, and their answers, are encoded, so they need
 * the form that {@link io.fibry.codec.Codec#of} describes. An exception of its handler arrives as a
 * {@link RemoteFailureException}. A request fails with an {@link UnavailableException} if it does
 * not arrive. If its answer can no longer arrive, for example after a crash of the other node, it
 * fails within the time of a lease. {@code sendMessage} returns true when this node has accepted
 * the message. After that, the message arrives once, or becomes a dead letter of this node, with
 * the reason.
 */
public sealed interface Cluster extends AutoCloseable permits LocalNode {

  /**
   * Makes a node without a server, for development and tests. It encodes messages nevertheless, so
   * that unsuitable types fail here, too. The thread of an {@code ask} by name itself adds the
   * request to the mailbox of the actor.
   *
   * @param app the name of the app
   * @return a node without other nodes
   */
  static Cluster local(String app) {
    return join(app, MemoryNetwork.ofOneNode(), options -> options);
  }

  /**
   * Makes this process a node of an app.
   *
   * @param app the name of the app: 1 to 64 lower-case letters, digits and hyphens, a letter first
   * @param network carries the messages
   * @param options changes the defaults
   * @return this node
   * @throws IllegalStateException if a node of this name is alive, or if the thread is interrupted
   * or the scope closed while this method waits for the end of a lease
   * @throws TransportException if there is no connection
   */
  static Cluster join(String app, ClusterNetwork network, UnaryOperator<Options> options) {
    return LocalNode.join(app, network, options.apply(Options.defaults(network)));
  }

  /**
   * A node that is alive.
   *
   * @param name the name of the node
   * @param id the id of its life: a node that ended and joined again has another id
   * @param hosts the kinds of entities that it hosts
   * @param offers the names by which it offers actors
   * @param since when it joined, by its own clock
   */
  record Member(String name, String id, Set<String> hosts, Set<String> offers, Instant since) {}

  /** {@return the name of the app} */
  String app();

  /** {@return this node} */
  Member self();

  /**
   * {@return all nodes that are alive, in the order of their names; without this node if the
   * network permits it only to send requests}
   */
  List<Member> members();

  /**
   * Calls a handler with the current members, and with the members after each change.
   *
   * @param handler called on a thread of its own
   * @return the subscription; closing it ends the calls
   */
  Subscription watchMembers(Handler<List<Member>> handler);

  /**
   * The state of a node.
   *
   * @param isAlive whether its lease is valid, so that other nodes rely on it; if false, other
   * nodes may declare it dead, and it answers no requests to entities
   * @param connectionProblem why no message can be sent at the moment, or empty if the node is
   * connected
   * @param partitions how many partitions of each kind this node owns
   * @param pendingRequests how many requests of other nodes this node has not answered yet
   */
  record Health(boolean isAlive, Optional<String> connectionProblem, Map<String, Integer> partitions,
      int pendingRequests) {}

  /** {@return the state of this node, for monitoring} */
  Health health();

  /**
   * {@return whether {@link #close} was called, so that this node leaves the cluster or has left}
   * The {@link #health} of such a node is no reason for an alarm.
   */
  boolean isLeaving();

  /** {@return the health as a text for operators, with the members and the pending messages} */
  String dump();

  /**
   * Returns the address of an actor that a node offers, perhaps this node. When no node offers it
   * any more, the actor counts as ended: {@code onExit} and watchers get the reason, or {@code
   * Failed} with a {@link TransportException} if its node is dead.
   *
   * <p>This node keeps an actor for each name until it leaves. If the number of names has no bound,
   * use entities instead: they need one such actor per partition.
   *
   * @param <M> the messages
   * @param name the name by which the actor is offered
   * @param messages the type of the messages
   * @return the address, valid as long as this node lives, also while no node offers the actor. The
   * address cannot end the actor or run code in it: such calls throw an
   * {@link UnsupportedOperationException}
   * @throws IllegalArgumentException if the class of a message or of an answer cannot be encoded
   */
  <M> Actor<M> actor(String name, Class<M> messages);

  /**
   * Offers an actor of this node to all nodes. If several nodes offer a name, each message goes to
   * one of them.
   *
   * @param <M> the messages
   * @param name 1 to 64 lower-case letters, digits and hyphens, a letter first
   * @param messages the type of the messages
   * @param actor gets the messages; the offer ends with the actor
   * @return the offer; closing it withdraws the offer, after the actor has got the messages that
   * have arrived. The actor stays alive
   * @throws IllegalArgumentException if the class of a message or of an answer cannot be encoded
   * @throws IllegalStateException if this node offers the name already
   */
  <M> Exitable expose(String name, Class<M> messages, Actor<? super M> actor);

  /**
   * Returns a topic of all nodes. All subscribers, of all nodes, get each published message once,
   * in the order of each publisher. A node misses the messages that are published while it is
   * disconnected. The subscribers of the returned object are on this node. If their full mailboxes
   * block the topic, and more than 1,024 messages wait for them, the oldest waiting messages are
   * dropped.
   *
   * @param <M> the messages
   * @param name 1 to 64 lower-case letters, digits and hyphens, a letter first
   * @param messages the type of the messages
   * @return the topic; all calls on this node return the same object, until it is closed. Its
   * {@code publish} throws a {@link TransportException} if a message was not sent
   * @throws IllegalArgumentException if the class of the messages cannot be encoded
   * @throws IllegalStateException if this node has the topic with another type
   */
  <M> Topic<M> topic(String name, Class<M> messages);

  /**
   * Returns a queue of work for all nodes. The network stores work until a worker of some node has
   * done it.
   *
   * @param <M> the work
   * @param name 1 to 64 lower-case letters, digits and hyphens, a letter first
   * @param work the type of the work
   * @return the queue, through which this node puts work and does work
   * @throws IllegalArgumentException if the class of the work cannot be encoded
   * @throws TransportException if there is no connection, or the network refuses the queue
   */
  <M> WorkQueue<M> queue(String name, Class<M> work);

  /**
   * Returns the addresses of the entities of a kind, on any node.
   *
   * @param <M> the messages
   * @param kind 1 to 64 lower-case letters, digits and hyphens, a letter first
   * @param messages the type of the messages
   * @return the addresses, valid as long as this node lives, even while no node hosts the kind. A
   * key is a text of 1 to 512 bytes. An address cannot end its actor, or run code in it.
   * {@code size()} counts the entities of this node
   * @throws IllegalArgumentException if the class of a message or of an answer cannot be encoded
   * @throws IllegalStateException if other nodes have split the kind into another number of
   * partitions
   */
  <M> Entities<String, M> entities(String kind, Class<M> messages);

  /**
   * Makes this node a host of the entities of a kind. All hosts share the keys, which move when
   * nodes join and leave. Before an entity moves, it handles the messages that wait for it, and
   * ends. The next message creates it on its next node. No message is lost or handled twice by a
   * move. If a node crashes, the messages that waited there are lost, and its keys get other owners
   * when its lease expires.
   *
   * @param <M> the messages
   * @param <B> the messages of the builder
   * @param kind 1 to 64 lower-case letters, digits and hyphens, a letter first
   * @param messages the type of the messages
   * @param builder makes the entities; they end before its scope
   * @param idle as in {@link Entities#open}
   * @param birth makes an entity; its state on a previous node is lost, unless the entity stores it
   * @return the addresses of the entities, on any node; closing this object gives the partitions of
   * this node to other nodes, and waits until these nodes own them
   * @throws IllegalArgumentException if the class of a message or of an answer cannot be encoded
   * @throws IllegalStateException if this node hosts the kind already, or other nodes have split it
   * into another number of partitions
   */
  <M, B> Entities<String, M> host(String kind, Class<M> messages, ActorBuilder<B> builder, Duration idle,
      BiFunction<ActorBuilder<B>, String, Actor<M>> birth);

  /**
   * Returns the addresses of the durable entities of a kind, on any node. If the kind stores
   * messages, {@code sendMessage} returns true when the message is stored; it is handled even if
   * nodes end.
   *
   * @param <M> the messages
   * @param kind the definition of the entities, the same on all nodes
   * @return as in {@link #entities(String, Class)}
   * @throws IllegalArgumentException if the class of a message or of an answer cannot be encoded
   * @throws IllegalStateException if other nodes have split the kind into another number of
   * partitions
   */
  <M> Entities<String, M> entities(Durable<M> kind);

  /**
   * Makes this node a host of the durable entities of a kind. Their state is in a store that all
   * nodes reach, such as a database, so an entity continues on its next node with the same state. A
   * node that was declared dead answers no request, and the store refuses its later turns.
   *
   * @param <M> the messages
   * @param kind the definition of the entities, the same on all nodes
   * @param store stores the entities of all nodes; to be closed after this node
   * @param builder makes the entities; they end before its scope
   * @param idle as in {@link Durable#entities}
   * @return as in {@link #host(String, Class, ActorBuilder, Duration, BiFunction)}, and
   * {@link #entities(Durable)}
   * @throws IllegalArgumentException if the class of a message or of an answer cannot be encoded
   * @throws IllegalStateException if this node hosts the kind already, or other nodes have split it
   * into another number of partitions
   */
  <M> Entities<String, M> host(Durable<M> kind, Store store, ActorBuilder<? super M> builder, Duration idle);

  /**
   * Makes this node a host of the durable entities of a kind, in the {@link #store} of the network.
   *
   * @param <M> the messages
   * @param kind the definition of the entities, the same on all nodes
   * @param builder makes the entities; they end before its scope
   * @param idle as in {@link Durable#entities}
   * @return as in {@link #host(Durable, Store, ActorBuilder, Duration)}
   */
  default <M> Entities<String, M> host(Durable<M> kind, ActorBuilder<? super M> builder, Duration idle) {
    return host(kind, store(), builder, idle);
  }

  /**
   * Returns the store of the network, which all nodes share: in memory as long as the network
   * exists, or in a stream of JetStream.
   *
   * @return the store, for durable actors, views and copies; it is closed with this node
   * @throws TransportException if there is no connection, or the network refuses the store
   * @throws IllegalStateException if the existing store cannot be used
   */
  Store store();

  /**
   * Leaves the app: gives the entities to other nodes, and ends the offers after their actors have
   * got the messages that have arrived. Tells the other nodes that this node has left. Waits for
   * all of this.
   */
  @Override
  void close();

  /** The options of a node. Immutable. */
  final class Options {
    private static final int MAX_PARTITIONS = 4_096;
    private static final Duration MIN_LEASE = Duration.ofSeconds(3);
    private final String node;
    private final Duration lease;
    private final Optional<Duration> askLimit; // empty: the limit of the scope holds
    private final int partitions;
    private final ActorScope scope;
    private final Optional<InstantSource> wallClock; // empty: the time of day of the scope's clock
    private final Duration settleTime;

    private Options(String node, Duration lease, Optional<Duration> askLimit, int partitions, ActorScope scope,
        Optional<InstantSource> wallClock, Duration settleTime) {
      this.node = node;
      this.lease = lease;
      this.askLimit = askLimit;
      this.partitions = partitions;
      this.scope = scope;
      this.wallClock = wallClock;
      this.settleTime = settleTime;
    }

    static Options defaults(ClusterNetwork network) {
      return new Options("n" + UUID.randomUUID().toString().substring(0, 8),
          Objects.requireNonNull(network, "network").lease(),
          Optional.empty(), 256, ActorSystem.root(), Optional.empty(),
          Duration.ofSeconds(2));
    }

    /**
     * Sets the name of the node, which no other node may have. Use the same name when the process
     * is started again: if the previous process was killed, {@link Cluster#join} waits until the
     * lease of that process expires.
     *
     * @param name 1 to 64 lower-case letters, digits and hyphens, a letter first
     * @return a changed copy
     */
    public Options withNode(String name) {
      return new Options(Subjects.checkName("a node", name), lease, askLimit, partitions, scope, wallClock, settleTime);
    }

    /**
     * Sets the lease. After this time without a heartbeat, other nodes declare the node dead, and
     * requests that it has not answered fail. The node sends five heartbeats in this time.
     *
     * @param lease at least 3 seconds. The network sets it to 6 seconds by default, or to 20
     * seconds with several NATS replicas, whose election of a leader may take 10 seconds
     * @return a changed copy
     */
    public Options withLease(Duration lease) {
      if (Objects.requireNonNull(lease, "lease").compareTo(MIN_LEASE) < 0) throw new IllegalArgumentException(
          "a lease of " + lease.toMillis()
              + " ms; give 3 seconds or more, because the node sends five heartbeats in this time");
      return new Options(node, lease, askLimit, partitions, scope, wallClock, settleTime);
    }

    /**
     * Sets the limit of requests to other nodes that have no limit of their own.
     *
     * @param limit by default the limit of the scope
     * @return a changed copy
     */
    public Options withAskLimit(Duration limit) {
      if (!Objects.requireNonNull(limit, "limit").isPositive())
        throw new IllegalArgumentException(
            "an ask limit of " + Durations.text(limit) + " leaves no time; give more than zero");
      return new Options(node, lease, Optional.of(limit), partitions, scope, wallClock, settleTime);
    }

    /**
     * Sets the number of partitions, into which the keys of a kind are split. Partitions move
     * between nodes. All nodes must have the same number, which can never change.
     *
     * @param partitions 1 to 4,096; by default 256, enough for some dozens of nodes
     * @return a changed copy
     */
    public Options withPartitions(int partitions) {
      if (partitions < 1 || partitions > MAX_PARTITIONS) throw new IllegalArgumentException(
          partitions + " partitions; take 1 to " + MAX_PARTITIONS + ", several for each node that there may ever be");
      return new Options(node, lease, askLimit, partitions, scope, wallClock, settleTime);
    }

    /** For tests: sets the wall clock, which measures the lease beside the monotonic clock. */
    Options withWallClock(InstantSource wallClock) {
      return new Options(node, lease, askLimit, partitions, scope, Optional.of(wallClock), settleTime);
    }

    /**
     * Sets the scope of the internal actors that serve the node. Its clock measures the lease.
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

    /** For tests: sets how long to wait after nodes have joined or left, before partitions move. */
    Options withSettleTime(Duration settleTime) {
      return new Options(node, lease, askLimit, partitions, scope, wallClock, settleTime);
    }

    Duration settleTime() {
      return settleTime;
    }

    Optional<InstantSource> wallClock() {
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
