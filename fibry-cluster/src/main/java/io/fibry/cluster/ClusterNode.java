package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.Sink;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.codec.Codec;
import io.fibry.durable.Durable;
import io.fibry.durable.SharedStoreAccess;
import io.fibry.pool.Entities;
import io.fibry.pubsub.Subscription;
import io.fibry.pubsub.Topic;
import io.fibry.spi.BlockBuilder;
import io.fibry.store.Store;
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
import org.slf4j.LoggerFactory;

/** A scope with an actor for each name and part that this node sends to, and for what it offers. */
final class ClusterNode implements Cluster {
  private static final Codec<Kind> KIND = Codec.of(Kind.class);
  private static final Duration LEAVE_TIMEOUT = Duration.ofSeconds(20);
  private static final Duration ARRIVAL_TIMEOUT = Duration.ofSeconds(2); // of messages without an answer
  private static final Codec<Form> FORM = Codec.of(Form.class);
  private static final Form CURRENT_FORM = new Form(1);

  /** The entry of a kind of entities in the table, for all nodes. */
  private record Kind(int parts) {}

  /** The entry of the form in which nodes talk to each other. */
  private record Form(int version) {}

  private final NodeContext nodeContext;
  private final Options options;
  private final Map<String, RemoteSender> senders = new ConcurrentHashMap<>(); // by subject
  private final Map<String, ClusterTopic<?>> topics = new ConcurrentHashMap<>(); // by name
  private final Map<String, QueueWorkers<?>> workers = new ConcurrentHashMap<>(); // by queue
  private final Map<String, ExposedActor<?>> offers = new ConcurrentHashMap<>(); // by name
  private final Map<String, CompletableFuture<ExitReason>> exitFutures = new ConcurrentHashMap<>(); // of far actors
  private final Map<String, PartitionCoordinator<?>> partitionCoordinators = new ConcurrentHashMap<>(); // by kind
  private final Map<String, Exitable> hostingHandles = new ConcurrentHashMap<>(); // of homes: their end is that
  private final Map<Store, Subscription> unownedSubscriptions = new ConcurrentHashMap<>(); // of what waits for others
  private volatile boolean isLeaving;
  private final AtomicLong messages = new AtomicLong(); // to other nodes, so far

  private ClusterNode(NodeContext nodeContext, Options options) {
    this.nodeContext = nodeContext;
    this.options = options;
  }

  static ClusterNode join(String app, ClusterNetwork network, Options options) {
    Objects.requireNonNull(network, "network");
    var subjects = new Subjects(app);
    var engine = network.connect(app, options.node());
    boolean joined = false;
    try {
      checkForm(engine, subjects);
      var scope = options.scope().openScope(app + "-" + options.node(),
          own -> options.askLimit().map(own::withAskLimit).orElse(own));
      var lease = Optional.<Lease>empty();
      try {
        var clock = BlockBuilder.of(scope.anonymous()).scheduler();
        var lives = new HeartbeatTracker(clock, options.lease());
        lease = Optional.of(Lease.begin(scope, engine, subjects, options, lives));
        var membership = new Membership(scope, engine, subjects, options, lives);
        var nodeContext = new NodeContext(scope, clock, engine, subjects, lease.get(), membership, options.node(),
            options.settleTime(), new PendingRequests());
        var node = new ClusterNode(nodeContext, options);
        RequestClaims.begin(nodeContext, options.lease());
        engine.subscribe(subjects.ofNode(options.node()), Optional.empty(), node::receive);
        engine.subscribe(subjects.ofCancel(), Optional.empty(), nodeContext.pendingRequests()::cancel);
        scope.onClosing(() -> node.unownedSubscriptions.values().forEach(Subscription::close));
        joined = true;
        return node;
      } finally {
        if (!joined) scope.close();
        if (!joined) lease.ifPresent(Lease::delete); // as in Lease.begin
      }
    } finally {
      if (!joined) engine.close();
    }
  }

  /** The first node of an app decides. */
  private static void checkForm(ClusterTransport engine, Subjects subjects) {
    engine.create(subjects.keyOfForm(), FORM.encode(CURRENT_FORM), ClusterTransport.FOREVER);
    var form =
        engine.get(subjects.keyOfForm()).flatMap(ClusterTransport.Entry::value).map(FORM::decode).orElse(CURRENT_FORM);
    if (!form.equals(CURRENT_FORM))
      throw new IllegalStateException("the nodes of app '" + subjects.app() + "' talk in form "
          + form.version + ", and this version of the library in form " + CURRENT_FORM.version
          + "; take the version that they have");
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
  public Subscription watchMembers(Handler<List<Member>> follower) {
    return nodeContext.membership().all().subscribe(follower);
  }

  /** Called on the engine's thread, with messages of another node for one of the parts here. */
  private void receive(WireMessage wire) {
    var part = wire.header(PartitionCoordinator.PARTITION_HEADER).orElse("");
    int dot = part.indexOf('.');
    var home = dot < 0 ? null : partitionCoordinators.get(part.substring(0, dot));
    if (home == null || !part.substring(dot + 1).matches("\\d{1,4}")) return;
    home.receiveTransfer(Integer.parseInt(part.substring(dot + 1)), wire);
  }

  @Override
  public Health health() {
    var partitions = new TreeMap<String, Integer>();
    partitionCoordinators.forEach((kind, home) -> partitions.put(kind, home.stats().localPartitions()));
    return new Health(nodeContext.lease().isValid(), nodeContext.engine().connectionProblem(),
        Collections.unmodifiableMap(partitions),
        nodeContext.pendingRequests().size());
  }

  @Override
  public String dump() {
    var busy = senders.values().stream().filter(RemoteSender::isBusy).map(RemoteSender::toString).sorted().toList();
    var works =
        workers.values().stream().filter(one -> !one.onExit().isDone()).map(QueueWorkers::queue).sorted().toList();
    return NodeDump.of(this, partitionCoordinators, works, busy);
  }

  // ---- actors

  @Override
  public <M> Actor<M> actor(String name, Class<M> messages) {
    var route = Route.toName(name, nodeContext.subjects(), ids());
    var protocol = Protocol.of(messages);
    return new RemoteActor<>(new RemoteSender.RemoteAddress(name, Optional.empty(), false), protocol, senderTo(route),
        nodeContext.askLimit(),
        Optional.of(() -> exitOf(name)));
  }

  /** Returns the end of the actor that has the name now, not of an actor before. */
  private CompletableFuture<ExitReason> exitOf(String name) {
    var end = exitFutures.compute(name,
        (same, before) -> before != null && !before.isDone() ? before : RemoteExitWatch.of(name, nodeContext));
    end.thenRun(() -> exitFutures.remove(name, end));
    return end.copy();
  }

  private RemoteSender senderTo(Route route) {
    return senders.computeIfAbsent(route.subject(),
        none -> RemoteSender.begin(nodeContext, route, nodeContext.askLimit()));
  }

  @Override
  public <M> Exitable expose(String name, Class<M> messages, Actor<? super M> actor) {
    String subject = nodeContext.subjects().ofName(name);
    var protocol = Protocol.of(messages);
    Objects.requireNonNull(actor, "actor");
    return offers.compute(name, (same, before) -> {
      if (before != null && !before.onExit().isDone()) throw new IllegalStateException(
          "node '" + options.node() + "' offers '" + name + "' already; close that offer");
      return register(name, ExposedActor.begin(nodeContext, subject, name, protocol, actor));
    });
  }

  private <M> ExposedActor<M> register(String name, ExposedActor<M> offer) {
    boolean known = false;
    try {
      nodeContext.lease().offer(name, offer);
      known = true;
      offer.onExit().thenRun(() -> {
        if (!isLeaving) nodeContext.lease().endOffer(name, offer, offer.endReason());
      });
      return offer;
    } finally {
      if (!known) offer.kill();
    }
  }

  @Override
  @SuppressWarnings("unchecked") // the type is compared
  public <M> Topic<M> topic(String name, Class<M> messages) {
    String subject = nodeContext.subjects().ofTopic(name);
    var protocol = Protocol.of(messages);
    var topic = topics.compute(name, (same, before) -> before != null && !before.onExit().isDone() ? before
        : ClusterTopic.begin(nodeContext, subject, name, protocol));
    if (!topic.messages().equals(messages)) throw new IllegalStateException("node '" + options.node()
        + "' has topic '" + name + "' with messages of " + topic.messages().getName() + ", and not of "
        + messages.getName());
    return (Topic<M>) topic;
  }

  @Override
  public <M> WorkQueue<M> queue(String name, Class<M> work) {
    return new NetworkWorkQueue<>(name, Protocol.of(work), nodeContext.engine(), nodeContext.subjects(), ids(),
        this::work);
  }

  private <M> Exitable work(NetworkWorkQueue<M> queue, WorkQueue.Options options, Handler<M> worker) {
    return workers.compute(queue.name(), (name, before) -> {
      if (before != null && !before.onExit().isDone()) throw new IllegalStateException(
          "node '" + nodeContext.node() + "' works on queue '" + name + "' already; close that work");
      return new QueueWorkers<>(nodeContext.scope().anonymous(), queue, options, worker);
    });
  }

  // ---- entities

  @Override
  public <M> Entities<String, M> entities(String kind, Class<M> messages) {
    return addresses(kind, Protocol.of(messages), false, nodeContext.scope().anonymous().newSink());
  }

  @Override
  public <M> Entities<String, M> entities(Durable<M> kind) {
    var sharing = SharedStoreAccess.of(kind);
    return addresses(sharing.kind(), Protocol.of(sharing.messages(), sharing::codec), sharing.storesMessages(),
        nodeContext.scope().anonymous().newSink());
  }

  @Override
  public <M, B> Entities<String, M> host(String kind, Class<M> messages, ActorBuilder<B> how, Duration idle,
      BiFunction<ActorBuilder<B>, String, Actor<M>> birth) {
    Objects.requireNonNull(birth, "birth");
    var named = BlockBuilder.of(Objects.requireNonNull(how, "how")).defaultName(Subjects.checkName("a kind", kind));
    Entities.open(named, idle, birth).close(); // checks them
    return host(kind, Protocol.of(messages), false, part -> Entities.open(named, idle, birth));
  }

  @Override
  public <M> Entities<String, M> host(Durable<M> kind, Store store, ActorBuilder<? super M> how, Duration idle) {
    var sharing = SharedStoreAccess.of(kind);
    Objects.requireNonNull(how, "how");
    int partitions = partitionsOf(sharing.kind());
    sharing.entities(how, Objects.requireNonNull(store, "store"), idle, none -> false).close(); // checks them
    var birth = new EntityFactory<M>() {
      @Override
      public Entities<String, M> entities(int part) {
        return sharing.entities(how, store, idle, key -> PartitionAssignment.partitionOf(key, partitions) == part);
      }

      @Override
      public void deliverPending(String key) {
        SharedStoreAccess.deliverPending(store, new Store.ActorId(sharing.kind(), key));
      }

      @Override
      public void deliverAllPending() {
        store.forEachPending(sharing.kind(), (actor, due) -> SharedStoreAccess.deliverPending(store, actor, due));
      }
    };
    unownedSubscriptions.computeIfAbsent(store,
        none -> SharedStoreAccess.onUnownedMessage(store, actor -> notifyOwner(actor, partitions)));
    return host(sharing.kind(), Protocol.of(sharing.messages(), sharing::codec), sharing.storesMessages(), birth);
  }

  @Override
  public Store store() {
    return nodeContext.engine().store();
  }

  private <M> Entities<String, M> host(String kind, Protocol<M> protocol, boolean keeps, EntityFactory<M> birth) {
    int partitions = partitionsOf(kind);
    var home = new PartitionCoordinator<M>(nodeContext, kind, partitions, protocol, birth);
    if (partitionCoordinators.putIfAbsent(kind, home) != null) {
      home.drop();
      throw new IllegalStateException(
          "node '" + options.node() + "' is home to '" + kind + "' already; close those entities");
    }
    boolean begun = false;
    try {
      home.begin();
      begun = true;
    } finally {
      if (!begun) partitionCoordinators.remove(kind, home);
    }
    Sink<Void> door = nodeContext.scope().anonymous().newSink();
    hostingHandles.put(kind, door);
    door.closeOnExit(() -> {
      if (nodeContext.scope().isClosed()) home.drop(); // its actors have ended before
      else home.releaseAll(LEAVE_TIMEOUT);
      hostingHandles.remove(kind, door);
      partitionCoordinators.remove(kind, home);
    });
    return addresses(kind, protocol, keeps, door);
  }

  private <M> Entities<String, M> addresses(String kind, Protocol<M> protocol, boolean keeps, Exitable front) {
    int partitions = partitionsOf(kind);
    var ids = ids();
    IntFunction<RemoteSender> relays =
        part -> senderTo(Route.toPartition(kind, part, nodeContext.subjects(), ids, () -> absenceReason(kind)));
    return new RemoteEntities<>(front, kind, partitions, protocol, keeps, relays, () -> size(kind),
        nodeContext.askLimit());
  }

  /**
   * A turn has left something at the store, for an actor of another node; on a thread of the store.
   */
  private void notifyOwner(Store.ActorId actor, int partitions) {
    String subject =
        nodeContext.subjects().ofPartition(actor.kind(), PartitionAssignment.partitionOf(actor.key(), partitions));
    var look = WireMessage.to(subject, Map.of(Route.KEY, actor.key(), Route.DELIVER_PENDING, ""), new byte[0]);
    try {
      nodeContext.engine().publish(look);
    } catch (TransportException cut) {
      LoggerFactory.getLogger(Cluster.class).debug("{} hears later of what waits for it", actor, cut);
    }
  }

  /** Returns ids for messages of this node. */
  private Supplier<String> ids() {
    String life = nodeContext.life() + ".";
    return () -> life + messages.incrementAndGet();
  }

  private Optional<String> absenceReason(String kind) {
    if (partitionCoordinators.containsKey(kind) || nodeContext.membership().hosts(kind)) return Optional.empty();
    return Optional.of("no node is home to '" + kind + "'");
  }

  private long size(String kind) {
    var home = partitionCoordinators.get(kind);
    return home == null ? 0 : home.stats().actors();
  }

  /** The first node that asks decides for all. */
  private int partitionsOf(String kind) {
    String key = nodeContext.subjects().keyOfKind(kind);
    nodeContext.engine().create(key, KIND.encode(new Kind(options.partitions())), ClusterTransport.FOREVER);
    int partitions = nodeContext.engine().get(key).flatMap(ClusterTransport.Entry::value).map(KIND::decode)
        .orElseThrow(() -> new IllegalStateException("the entry '" + key + "' was taken away")).parts;
    if (partitions != options.partitions())
      throw new IllegalStateException("the keys of '" + kind + "' are split into " + partitions
          + " parts, and node '" + options.node() + "' wants " + options.partitions() + "; join withPartitions("
          + partitions
          + ")");
    return partitions;
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
      workers.values().forEach(QueueWorkers::stopAndRelease);
      awaitArrivals();
      if (!nodeContext.scope().isClosed()) nodeContext.lease().endLease();
    } finally {
      closeAll();
    }
  }

  /** Messages that do not arrive in time are named in the log. */
  private void awaitArrivals() {
    long end = System.nanoTime() + ARRIVAL_TIMEOUT.toNanos();
    senders.forEach((subject, relay) -> {
      try {
        if (!relay.awaitArrival(Duration.ofNanos(Math.max(0, end - System.nanoTime()))))
          LoggerFactory.getLogger(Cluster.class).warn("{} ends before messages have arrived: {}", this, relay);
      } catch (InterruptedException interrupt) {
        Thread.currentThread().interrupt();
      }
    });
  }

  private void closeAll() {
    try {
      nodeContext.membership().close();
      nodeContext.scope().close(); // and `unownedSubscriptions` with it
    } finally {
      nodeContext.engine().close();
    }
  }

  @Override
  public String toString() {
    return "node '" + options.node() + "' of app '" + app() + "'";
  }
}
