package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.Handler;
import io.fibry.Sink;
import io.fibry.cluster.membership.HeartbeatTracker;
import io.fibry.cluster.membership.Membership;
import io.fibry.cluster.membership.NodeLease;
import io.fibry.cluster.membership.PartitionAssignment;
import io.fibry.cluster.partition.HostedKind;
import io.fibry.cluster.partition.PartitionCoordinator;
import io.fibry.cluster.partition.PartitionCount;
import io.fibry.cluster.remote.ClusterTopic;
import io.fibry.cluster.remote.DirectRoute;
import io.fibry.cluster.remote.ExposedActor;
import io.fibry.cluster.remote.NodeContext;
import io.fibry.cluster.remote.RemoteActor;
import io.fibry.cluster.remote.RemoteAddress;
import io.fibry.cluster.remote.RemoteEntities;
import io.fibry.cluster.remote.RemoteExitWatch;
import io.fibry.cluster.remote.RemoteSender;
import io.fibry.cluster.remote.RequestKeepAlive;
import io.fibry.cluster.remote.RequestRegistry;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.cluster.wire.Destination;
import io.fibry.cluster.wire.MessageVersion;
import io.fibry.cluster.wire.Protocol;
import io.fibry.cluster.wire.Subjects;
import io.fibry.durable.Durable;
import io.fibry.durable.SharedStoreAccess;
import io.fibry.pool.Entities;
import io.fibry.pubsub.Subscription;
import io.fibry.pubsub.Topic;
import io.fibry.spi.BlockBuilder;
import io.fibry.store.Store;
import io.fibry.text.SafeLogger;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/**
 * This process as a node of an app. The node's scope contains the actors that send to names and
 * partitions of the app. For each actor that this node offers, the scope also contains a gate: the
 * actor that receives the messages of other nodes.
 */
final class LocalNode implements Cluster {
  private static final Duration LEAVE_TIMEOUT = Duration.ofSeconds(20); // for moves of partitions, and for work
  private static final Duration ARRIVAL_TIMEOUT = Duration.ofSeconds(2); // for sent messages, when the node leaves

  private final NodeContext nodeContext;
  private final Options options;
  private final Map<String, RemoteSender> senders = new ConcurrentHashMap<>(); // by subject
  private final NameTable<ClusterTopic<?>> topics = new NameTable<>(ClusterTopic::onExit);
  private final NameTable<QueueWorkers<?>> workers = new NameTable<>(QueueWorkers::onExit); // by queue
  private final NameTable<ExposedActor<?>> offers = new NameTable<>(ExposedActor::onExit);
  private final NameTable<CompletableFuture<ExitReason>> exitFutures = new NameTable<>(exit -> exit);
  private final Map<String, PartitionCoordinator<?>> partitionCoordinators = new ConcurrentHashMap<>(); // by kind
  private final Map<String, Exitable> hostingHandles = new ConcurrentHashMap<>(); // by kind; to end the hosting
  private final Map<Store, Subscription> unownedSubscriptions = new ConcurrentHashMap<>(); // by store; see notifyOwner
  private volatile boolean isLeaving;
  private final AtomicLong lastMessageId = new AtomicLong(); // of messages to other nodes

  private LocalNode(NodeContext nodeContext, Options options) {
    this.nodeContext = nodeContext;
    this.options = options;
  }

  static LocalNode join(String app, ClusterNetwork network, Options options) {
    Objects.requireNonNull(network, "network");
    var subjects = new Subjects(app);
    var transport = network.connect(app, options.node());
    boolean joined = false;
    try {
      MessageVersion.check(transport, subjects);
      var scope = options.scope().openScope(app + "-" + options.node(),
          scopeOptions -> options.askLimit().map(scopeOptions::withAskLimit).orElse(scopeOptions));
      var lease = Optional.<NodeLease>empty();
      try {
        var clock = BlockBuilder.of(scope.anonymous()).scheduler();
        var heartbeats = new HeartbeatTracker(clock, options.lease());
        lease = Optional.of(NodeLease.begin(scope, transport, subjects, options.node(), options.lease(),
            options.wallClock().orElse(clock), heartbeats));
        var membership = new Membership(scope, transport, subjects, options.node(), options.lease(), heartbeats);
        var nodeContext = new NodeContext(scope, clock, transport, subjects, lease.get(), membership, options.node(),
            options.settleTime(), new RequestRegistry());
        var node = new LocalNode(nodeContext, options);
        RequestKeepAlive.begin(nodeContext, options.lease());
        transport.subscribe(subjects.ofNode(options.node()), Optional.empty(), node::receive);
        transport.subscribe(subjects.ofCancellations(), Optional.empty(), nodeContext.requests()::cancel);
        scope.onClosing(() -> node.unownedSubscriptions.values().forEach(Subscription::close));
        joined = true;
        return node;
      } finally {
        if (!joined) scope.close();
        if (!joined) lease.ifPresent(NodeLease::endLife); // others need not wait for its lease to expire
      }
    } finally {
      if (!joined) transport.close();
    }
  }

  // ---- nodes

  @Override
  public String app() {
    return nodeContext.subjects().app();
  }

  @Override
  public Member self() {
    return nodeContext.lease().self();
  }

  @Override
  public List<Member> members() {
    return nodeContext.membership().members();
  }

  @Override
  public Subscription watchMembers(Handler<List<Member>> handler) {
    return nodeContext.membership().observableMembers().subscribe(handler);
  }

  /**
   * Called on a thread of the transport, with a message that another node forwards for a partition.
   */
  private void receive(WireMessage wire) {
    var partition = wire.header(PartitionCoordinator.PARTITION_HEADER).orElse("");
    int dot = partition.indexOf('.');
    var coordinator = dot < 0 ? null : partitionCoordinators.get(partition.substring(0, dot));
    if (coordinator == null || !partition.substring(dot + 1).matches("\\d{1,4}")) return;
    coordinator.receiveTransfer(Integer.parseInt(partition.substring(dot + 1)), wire);
  }

  @Override
  public Health health() {
    var partitions = new TreeMap<String, Integer>();
    partitionCoordinators.forEach((kind, coordinator) -> partitions.put(kind, coordinator.stats().localPartitions()));
    return new Health(nodeContext.lease().isValid(), nodeContext.transport().connectionProblem(),
        Collections.unmodifiableMap(partitions), nodeContext.requests().unansweredCount());
  }

  @Override
  public boolean isLeaving() {
    return isLeaving;
  }

  @Override
  public String dump() {
    var busySenders =
        senders.values().stream().filter(RemoteSender::isBusy).map(RemoteSender::toString).sorted().toList();
    var queues =
        workers.values().stream().filter(w -> !w.onExit().isDone()).map(QueueWorkers::queueName).sorted().toList();
    return NodeDump.of(this, partitionCoordinators, queues, busySenders);
  }

  // ---- actors

  @Override
  public <M> Actor<M> actor(String name, Class<M> messages) {
    var destination = Destination.toName(name, nodeContext.subjects(), newIdSource());
    var protocol = Protocol.of(messages);
    return new RemoteActor<>(new RemoteAddress(name, Optional.empty(), false), protocol,
        senderTo(destination), nodeContext.askLimit(),
        Optional.of(() -> exitOf(name)), directRoute(name));
  }

  /** Returns a source of the way to this node's offer of a name, without the network. */
  private Supplier<Optional<? extends DirectRoute<?>>> directRoute(String name) {
    return nodeContext.transport().isOfOnlyNode() ? () -> offers.find(name).flatMap(ExposedActor::directRoute)
        : Optional::empty;
  }

  /** Returns the exit of the actor with this name. Replaces the exit of an actor that has ended. */
  private CompletableFuture<ExitReason> exitOf(String name) {
    return exitFutures.decide(name, present -> present.orElseGet(() -> RemoteExitWatch.of(name, nodeContext))).copy();
  }

  private RemoteSender senderTo(Destination destination) {
    return senders.computeIfAbsent(destination.subject(),
        subject -> RemoteSender.begin(nodeContext, destination, nodeContext.askLimit()));
  }

  @Override
  public <M> Exitable expose(String name, Class<M> messages, Actor<? super M> actor) {
    String subject = nodeContext.subjects().ofActor(name);
    var protocol = Protocol.of(messages);
    Objects.requireNonNull(actor, "actor");
    return offers.decide(name, present -> {
      if (present.isPresent()) throw new IllegalStateException(
          "node '" + options.node() + "' offers '" + name + "' already; close that offer");
      return register(name, ExposedActor.begin(nodeContext, subject, name, protocol, actor));
    });
  }

  private <M> ExposedActor<M> register(String name, ExposedActor<M> offer) {
    boolean isWritten = false;
    try {
      nodeContext.lease().addOffer(name, offer);
      isWritten = true;
      offer.onExit().thenRun(() -> {
        if (!isLeaving) nodeContext.lease().endOffer(name, offer, offer.endReason());
      });
      return offer;
    } finally {
      if (!isWritten) offer.kill();
    }
  }

  @Override
  @SuppressWarnings("unchecked") // the classes of the messages are compared
  public <M> Topic<M> topic(String name, Class<M> messages) {
    String subject = nodeContext.subjects().ofTopic(name);
    var protocol = Protocol.of(messages);
    var topic = topics.decide(name,
        present -> present.orElseGet(() -> ClusterTopic.begin(nodeContext, subject, name, protocol)));
    if (!topic.messageType().equals(messages)) throw new IllegalStateException("node '" + options.node()
        + "' has topic '" + name + "' with messages of " + topic.messageType().getName() + ", and not of "
        + messages.getName());
    return (Topic<M>) topic;
  }

  @Override
  public <M> WorkQueue<M> queue(String name, Class<M> work) {
    return new NetworkWorkQueue<>(name, Protocol.of(work), nodeContext.transport(), nodeContext.subjects(),
        newIdSource(),
        this::beginWorkers);
  }

  private <M> Exitable beginWorkers(NetworkWorkQueue<M> queue, WorkQueue.Options options, Handler<M> worker) {
    return workers.decide(queue.name(), present -> {
      if (present.isPresent()) throw new IllegalStateException("node '" + nodeContext.node() + "' works on queue '"
          + queue.name() + "' already; close these workers first");
      return new QueueWorkers<>(nodeContext.scope().anonymous(), queue, options, worker);
    });
  }

  // ---- entities

  @Override
  public <M> Entities<String, M> entities(String kind, Class<M> messages) {
    var protocol = Protocol.of(messages);
    int partitions = partitionsOf(kind);
    return addresses(kind, partitions, protocol, false, nodeContext.scope().anonymous().newSink());
  }

  @Override
  public <M> Entities<String, M> entities(Durable<M> kind) {
    var access = SharedStoreAccess.of(kind);
    var protocol = Protocol.of(access.messageType(), access::codec);
    int partitions = partitionsOf(access.kind());
    return addresses(access.kind(), partitions, protocol, access.storesMessages(),
        nodeContext.scope().anonymous().newSink());
  }

  @Override
  public <M, B> Entities<String, M> host(String kind, Class<M> messages, ActorBuilder<B> builder, Duration idle,
      BiFunction<ActorBuilder<B>, String, Actor<M>> birth) {
    Objects.requireNonNull(birth, "birth");
    var namedBuilder =
        BlockBuilder.of(Objects.requireNonNull(builder, "builder")).defaultName(Subjects.checkName("a kind", kind));
    Entities.open(namedBuilder, idle, birth).close(); // checks the arguments
    return host(kind, Protocol.of(messages), false, partition -> Entities.open(namedBuilder, idle, birth));
  }

  @Override
  public <M> Entities<String, M> host(Durable<M> kind, Store store, ActorBuilder<? super M> builder, Duration idle) {
    var access = SharedStoreAccess.of(kind);
    Objects.requireNonNull(builder, "builder");
    int partitions = partitionsOf(access.kind());
    // Checks the arguments.
    access.entities(builder, store, idle, key -> false).close();
    var entityFactory = new HostedKind<M>() {
      @Override
      public Entities<String, M> entities(int partition) {
        return access.entities(builder, store, idle,
            key -> PartitionAssignment.partitionOf(key, partitions) == partition);
      }

      @Override
      public void deliverPending(String key) {
        SharedStoreAccess.deliverPending(store, new Store.ActorId(access.kind(), key));
      }

      @Override
      public void deliverAllPending() {
        SharedStoreAccess.deliverAllPending(store, access.kind());
      }
    };
    unownedSubscriptions.computeIfAbsent(store,
        key -> SharedStoreAccess.onUnownedMessage(store, actor -> notifyOwner(actor, partitions)));
    return host(access.kind(), Protocol.of(access.messageType(), access::codec), access.storesMessages(),
        entityFactory);
  }

  @Override
  public Store store() {
    return nodeContext.transport().store();
  }

  private <M> Entities<String, M> host(String kind, Protocol<M> protocol, boolean storesMessages,
      HostedKind<M> entityFactory) {
    int partitions = partitionsOf(kind);
    Sink<Void> handle = nodeContext.scope().anonymous().newSink();
    boolean isHosted = false;
    try {
      beginHosting(handle, new PartitionCoordinator<>(nodeContext, kind, partitions, protocol, entityFactory), kind);
      var entities = addresses(kind, partitions, protocol, storesMessages, handle);
      isHosted = true;
      return entities;
    } finally {
      if (!isHosted) handle.close(); // because the caller gets no object that it could close
    }
  }

  /** Begins to take partitions, until the handle ends. */
  private void beginHosting(Exitable handle, PartitionCoordinator<?> coordinator, String kind) {
    if (partitionCoordinators.putIfAbsent(kind, coordinator) != null) {
      coordinator.drop();
      throw new IllegalStateException(
          "node '" + options.node() + "' hosts '" + kind + "' already; close the entities that `host` returned first");
    }
    boolean begun = false;
    try {
      coordinator.begin();
      begun = true;
    } finally {
      if (!begun) partitionCoordinators.remove(kind, coordinator);
    }
    hostingHandles.put(kind, handle);
    handle.closeOnExit(() -> {
      if (nodeContext.scope().isClosed()) coordinator.drop(); // the scope has ended the entities
      else coordinator.releaseAll(LEAVE_TIMEOUT);
      hostingHandles.remove(kind, handle);
      partitionCoordinators.remove(kind, coordinator);
    });
  }

  private <M> Entities<String, M> addresses(String kind, int partitions, Protocol<M> protocol, boolean storesMessages,
      Exitable exitable) {
    var ids = newIdSource();
    IntFunction<RemoteSender> senderOf = partition -> senderTo(
        Destination.toPartition(kind, partition, nodeContext.subjects(), ids, () -> absenceReason(kind)));
    return new RemoteEntities<>(exitable, kind, partitions, protocol, storesMessages, senderOf,
        () -> Optional.ofNullable(partitionCoordinators.get(kind)).map(c -> c.stats().actors()).orElse(0L),
        nodeContext.askLimit());
  }

  /**
   * Notifies the owner of an entity that a turn of this node has stored a message for the entity.
   * Called on a thread of the store.
   */
  private void notifyOwner(Store.ActorId actor, int partitions) {
    String subject =
        nodeContext.subjects().ofPartition(actor.kind(), PartitionAssignment.partitionOf(actor.key(), partitions));
    var notice =
        WireMessage.oneWay(subject, Map.of(Destination.KEY, actor.key(), Destination.DELIVER_PENDING, ""), new byte[0]);
    try {
      nodeContext.transport().publish(notice);
    } catch (TransportException failure) {
      SafeLogger.of(Cluster.class).debug("{} is notified later of its pending messages", actor, failure);
    }
  }

  /** Returns a source of message ids, which consist of this node's name and life, and a number. */
  private Supplier<String> newIdSource() {
    String prefix = nodeContext.nameAndLife() + ".";
    return () -> prefix + lastMessageId.incrementAndGet();
  }

  private Optional<String> absenceReason(String kind) {
    if (partitionCoordinators.containsKey(kind) || nodeContext.membership().hosts(kind)) return Optional.empty();
    return Optional.of("no node hosts '" + kind + "'");
  }

  private int partitionsOf(String kind) {
    return PartitionCount.of(kind, nodeContext, options.partitions());
  }

  // ---- the end

  @Override
  public void close() {
    isLeaving = true;
    try {
      workers.values().forEach(QueueWorkers::askExit);
      hostingHandles.values().forEach(Exitable::askExit);
      hostingHandles.values().forEach(Exitable::close);
      offers.values().forEach(ExposedActor::close);
      topics.values().forEach(ClusterTopic::close);
      QueueWorkers.awaitOrKill(workers.values(), LEAVE_TIMEOUT);
      awaitArrivals();
      if (nodeContext.scope().isClosed()) nodeContext.scope().close(); // waits for the end of the actors
      awaitSent();
      nodeContext.lease().announceLeave();
    } finally {
      closeAll();
    }
  }

  /** Waits for the arrival of messages that expect no answer, and logs senders of late messages. */
  private void awaitArrivals() {
    long deadline = System.nanoTime() + ARRIVAL_TIMEOUT.toNanos();
    senders.forEach((subject, sender) -> {
      try {
        if (!sender.awaitArrival(Duration.ofNanos(Math.max(0, deadline - System.nanoTime()))))
          SafeLogger.of(Cluster.class).warn("{} leaves before all messages of {} have arrived", this, sender);
      } catch (InterruptedException interrupt) {
        Thread.currentThread().interrupt();
      }
    });
  }

  /** Waits until the answers are sent that the actors have given so far. */
  private void awaitSent() {
    try {
      if (!nodeContext.requests().awaitSent(ARRIVAL_TIMEOUT))
        SafeLogger.of(Cluster.class).warn("{} leaves before all of its answers are sent", this);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
    }
  }

  private void closeAll() {
    try {
      nodeContext.membership().close();
      nodeContext.scope().close(); // its close hook closes `unownedSubscriptions`
    } finally {
      nodeContext.transport().close();
    }
  }

  @Override
  public String toString() {
    return "node '" + options.node() + "' of app '" + app() + "'";
  }
}
