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
  private static final Duration LEAVING = Duration.ofSeconds(20);
  private static final Duration ARRIVING = Duration.ofSeconds(2); // of messages without an answer
  private static final Codec<Form> FORM = Codec.of(Form.class);
  private static final Form OURS = new Form(1);

  /** The entry of a kind of entities in the table, for all nodes. */
  private record Kind(int parts) {}

  /** The entry of the form in which nodes talk to each other. */
  private record Form(int version) {}

  private final NodeContext around;
  private final Options options;
  private final Map<String, RemoteSender> relays = new ConcurrentHashMap<>(); // by subject
  private final Map<String, ClusterTopic<?>> topics = new ConcurrentHashMap<>(); // by name
  private final Map<String, QueueWorkers<?>> workers = new ConcurrentHashMap<>(); // by queue
  private final Map<String, ExposedActor<?>> offers = new ConcurrentHashMap<>(); // by name
  private final Map<String, CompletableFuture<ExitReason>> ends = new ConcurrentHashMap<>(); // of far actors
  private final Map<String, PartitionCoordinator<?>> homes = new ConcurrentHashMap<>(); // by kind
  private final Map<String, Exitable> doors = new ConcurrentHashMap<>(); // of homes: their end is that
  private final Map<Store, Subscription> news = new ConcurrentHashMap<>(); // of what waits for others
  private volatile boolean leaving;
  private final AtomicLong messages = new AtomicLong(); // to other nodes, so far

  private ClusterNode(NodeContext around, Options options) {
    this.around = around;
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
        var around = new NodeContext(scope, clock, engine, subjects, lease.get(), membership, options.node(),
            options.calm(), new PendingRequests());
        var node = new ClusterNode(around, options);
        RequestClaims.begin(around, options.lease());
        engine.subscribe(subjects.ofNode(options.node()), Optional.empty(), node::receive);
        engine.subscribe(subjects.ofTakingBack(), Optional.empty(), around.underWay()::takeBack);
        scope.onClosing(() -> node.news.values().forEach(Subscription::close));
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
    engine.create(subjects.keyOfForm(), FORM.encode(OURS), ClusterTransport.FOREVER);
    var form = engine.get(subjects.keyOfForm()).flatMap(ClusterTransport.Entry::value).map(FORM::decode).orElse(OURS);
    if (!form.equals(OURS)) throw new IllegalStateException("the nodes of app '" + subjects.app() + "' talk in form "
        + form.version + ", and this version of the library in form " + OURS.version
        + "; take the version that they have");
  }

  // ---- nodes

  @Override
  public String app() {
    return around.subjects().app();
  }

  @Override
  public Member self() {
    return around.lease().self();
  }

  @Override
  public List<Member> members() {
    return around.membership().now();
  }

  @Override
  public Subscription watchMembers(Handler<List<Member>> follower) {
    return around.membership().all().subscribe(follower);
  }

  /** Called on the engine's thread, with messages of another node for one of the parts here. */
  private void receive(WireMessage wire) {
    var part = wire.header(PartitionCoordinator.PART).orElse("");
    int dot = part.indexOf('.');
    var home = dot < 0 ? null : homes.get(part.substring(0, dot));
    if (home == null || !part.substring(dot + 1).matches("\\d{1,4}")) return;
    home.pass(Integer.parseInt(part.substring(dot + 1)), wire);
  }

  @Override
  public Health health() {
    var parts = new TreeMap<String, Integer>();
    homes.forEach((kind, home) -> parts.put(kind, home.extent().here()));
    return new Health(around.lease().isValid(), around.engine().connectionProblem(), Collections.unmodifiableMap(parts),
        around.underWay().size());
  }

  @Override
  public String dump() {
    var busy = relays.values().stream().filter(RemoteSender::isBusy).map(RemoteSender::toString).sorted().toList();
    var works =
        workers.values().stream().filter(one -> !one.onExit().isDone()).map(QueueWorkers::queue).sorted().toList();
    return NodeDump.of(this, homes, works, busy);
  }

  // ---- actors

  @Override
  public <M> Actor<M> actor(String name, Class<M> messages) {
    var route = Route.toName(name, around.subjects(), ids());
    var protocol = Protocol.of(messages);
    return new RemoteActor<>(new RemoteSender.RemoteAddress(name, Optional.empty(), false), protocol, relay(route),
        around.askLimit(),
        Optional.of(() -> end(name)));
  }

  /** Returns the end of the actor that has the name now, not of an actor before. */
  private CompletableFuture<ExitReason> end(String name) {
    var end = ends.compute(name,
        (same, before) -> before != null && !before.isDone() ? before : RemoteExitWatch.of(name, around));
    end.thenRun(() -> ends.remove(name, end));
    return end.copy();
  }

  private RemoteSender relay(Route route) {
    return relays.computeIfAbsent(route.subject(), none -> RemoteSender.begin(around, route, around.askLimit()));
  }

  @Override
  public <M> Exitable expose(String name, Class<M> messages, Actor<? super M> actor) {
    String subject = around.subjects().ofName(name);
    var protocol = Protocol.of(messages);
    Objects.requireNonNull(actor, "actor");
    return offers.compute(name, (same, before) -> {
      if (before != null && !before.onExit().isDone()) throw new IllegalStateException(
          "node '" + options.node() + "' offers '" + name + "' already; close that offer");
      return announced(name, ExposedActor.begin(around, subject, name, protocol, actor));
    });
  }

  private <M> ExposedActor<M> announced(String name, ExposedActor<M> offer) {
    boolean known = false;
    try {
      around.lease().offer(name, offer);
      known = true;
      offer.onExit().thenRun(() -> {
        if (!leaving) around.lease().endOffer(name, offer, offer.why());
      });
      return offer;
    } finally {
      if (!known) offer.kill();
    }
  }

  @Override
  @SuppressWarnings("unchecked") // the type is compared
  public <M> Topic<M> topic(String name, Class<M> messages) {
    String subject = around.subjects().ofTopic(name);
    var protocol = Protocol.of(messages);
    var topic = topics.compute(name, (same, before) -> before != null && !before.onExit().isDone() ? before
        : ClusterTopic.begin(around, subject, name, protocol));
    if (!topic.messages().equals(messages)) throw new IllegalStateException("node '" + options.node()
        + "' has topic '" + name + "' with messages of " + topic.messages().getName() + ", and not of "
        + messages.getName());
    return (Topic<M>) topic;
  }

  @Override
  public <M> WorkQueue<M> queue(String name, Class<M> work) {
    return new NetworkWorkQueue<>(name, Protocol.of(work), around.engine(), around.subjects(), ids(), this::work);
  }

  private <M> Exitable work(NetworkWorkQueue<M> queue, WorkQueue.Options options, Handler<M> worker) {
    return workers.compute(queue.name(), (name, before) -> {
      if (before != null && !before.onExit().isDone()) throw new IllegalStateException(
          "node '" + around.node() + "' works on queue '" + name + "' already; close that work");
      return new QueueWorkers<>(around.scope().anonymous(), queue, options, worker);
    });
  }

  // ---- entities

  @Override
  public <M> Entities<String, M> entities(String kind, Class<M> messages) {
    return addresses(kind, Protocol.of(messages), false, around.scope().anonymous().newSink());
  }

  @Override
  public <M> Entities<String, M> entities(Durable<M> kind) {
    var sharing = SharedStoreAccess.of(kind);
    return addresses(sharing.kind(), Protocol.of(sharing.messages(), sharing::codec), sharing.storesMessages(),
        around.scope().anonymous().newSink());
  }

  @Override
  public <M, B> Entities<String, M> host(String kind, Class<M> messages, ActorBuilder<B> how, Duration idle,
      BiFunction<ActorBuilder<B>, String, Actor<M>> birth) {
    Objects.requireNonNull(birth, "birth");
    var named = BlockBuilder.of(Objects.requireNonNull(how, "how")).defaultName(Subjects.checked("a kind", kind));
    Entities.open(named, idle, birth).close(); // checks them
    return host(kind, Protocol.of(messages), false, part -> Entities.open(named, idle, birth));
  }

  @Override
  public <M> Entities<String, M> host(Durable<M> kind, Store store, ActorBuilder<? super M> how, Duration idle) {
    var sharing = SharedStoreAccess.of(kind);
    Objects.requireNonNull(how, "how");
    int parts = parts(sharing.kind());
    sharing.entities(how, Objects.requireNonNull(store, "store"), idle, none -> false).close(); // checks them
    var birth = new EntityFactory<M>() {
      @Override
      public Entities<String, M> entities(int part) {
        return sharing.entities(how, store, idle, key -> PartitionAssignment.part(key, parts) == part);
      }

      @Override
      public void look(String key) {
        SharedStoreAccess.deliverPending(store, new Store.ActorId(sharing.kind(), key));
      }

      @Override
      public void lookAgain() {
        store.forEachPending(sharing.kind(), (actor, due) -> SharedStoreAccess.deliverPending(store, actor, due));
      }
    };
    news.computeIfAbsent(store, none -> SharedStoreAccess.onUnownedMessage(store, actor -> tell(actor, parts)));
    return host(sharing.kind(), Protocol.of(sharing.messages(), sharing::codec), sharing.storesMessages(), birth);
  }

  @Override
  public Store store() {
    return around.engine().store();
  }

  private <M> Entities<String, M> host(String kind, Protocol<M> protocol, boolean keeps, EntityFactory<M> birth) {
    int parts = parts(kind);
    var home = new PartitionCoordinator<M>(around, kind, parts, protocol, birth);
    if (homes.putIfAbsent(kind, home) != null) {
      home.drop();
      throw new IllegalStateException(
          "node '" + options.node() + "' is home to '" + kind + "' already; close those entities");
    }
    boolean begun = false;
    try {
      home.begin();
      begun = true;
    } finally {
      if (!begun) homes.remove(kind, home);
    }
    Sink<Void> door = around.scope().anonymous().newSink();
    doors.put(kind, door);
    door.closeOnExit(() -> {
      if (around.scope().isClosed()) home.drop(); // its actors have ended before
      else home.leave(LEAVING);
      doors.remove(kind, door);
      homes.remove(kind, home);
    });
    return addresses(kind, protocol, keeps, door);
  }

  private <M> Entities<String, M> addresses(String kind, Protocol<M> protocol, boolean keeps, Exitable front) {
    int parts = parts(kind);
    var ids = ids();
    IntFunction<RemoteSender> relays =
        part -> relay(Route.toPart(kind, part, around.subjects(), ids, () -> absent(kind)));
    return new RemoteEntities<>(front, kind, parts, protocol, keeps, relays, () -> size(kind), around.askLimit());
  }

  /**
   * A turn has left something at the store, for an actor of another node; on a thread of the store.
   */
  private void tell(Store.ActorId actor, int parts) {
    String subject = around.subjects().ofPart(actor.kind(), PartitionAssignment.part(actor.key(), parts));
    var look = WireMessage.to(subject, Map.of(Route.KEY, actor.key(), Route.LOOK, ""), new byte[0]);
    try {
      around.engine().publish(look);
    } catch (TransportException cut) {
      LoggerFactory.getLogger(Cluster.class).debug("{} hears later of what waits for it", actor, cut);
    }
  }

  /** Returns ids for messages of this node. */
  private Supplier<String> ids() {
    String life = around.life() + ".";
    return () -> life + messages.incrementAndGet();
  }

  private Optional<String> absent(String kind) {
    if (homes.containsKey(kind) || around.membership().hosts(kind)) return Optional.empty();
    return Optional.of("no node is home to '" + kind + "'");
  }

  private long size(String kind) {
    var home = homes.get(kind);
    return home == null ? 0 : home.extent().actors();
  }

  /** The first node that asks decides for all. */
  private int parts(String kind) {
    String key = around.subjects().keyOfKind(kind);
    around.engine().create(key, KIND.encode(new Kind(options.parts())), ClusterTransport.FOREVER);
    int parts = around.engine().get(key).flatMap(ClusterTransport.Entry::value).map(KIND::decode)
        .orElseThrow(() -> new IllegalStateException("the entry '" + key + "' was taken away")).parts;
    if (parts != options.parts()) throw new IllegalStateException("the keys of '" + kind + "' are split into " + parts
        + " parts, and node '" + options.node() + "' wants " + options.parts() + "; join withPartitions(" + parts
        + ")");
    return parts;
  }

  // ---- the end

  @Override
  public void close() {
    leaving = true;
    try {
      workers.values().forEach(QueueWorkers::askExit);
      doors.values().forEach(Exitable::askExit);
      doors.values().forEach(Exitable::close);
      offers.values().forEach(ExposedActor::close);
      topics.values().forEach(ClusterTopic::close);
      workers.values().forEach(QueueWorkers::end);
      awaitArrivals();
      if (!around.scope().isClosed()) around.lease().leave();
    } finally {
      end();
    }
  }

  /** Messages that do not arrive in time are named in the log. */
  private void awaitArrivals() {
    long end = System.nanoTime() + ARRIVING.toNanos();
    relays.forEach((subject, relay) -> {
      try {
        if (!relay.awaitArrival(Duration.ofNanos(Math.max(0, end - System.nanoTime()))))
          LoggerFactory.getLogger(Cluster.class).warn("{} ends before messages have arrived: {}", this, relay);
      } catch (InterruptedException interrupt) {
        Thread.currentThread().interrupt();
      }
    });
  }

  private void end() {
    try {
      around.membership().close();
      around.scope().close(); // and `news` with it
    } finally {
      around.engine().close();
    }
  }

  @Override
  public String toString() {
    return "node '" + options.node() + "' of app '" + app() + "'";
  }
}
