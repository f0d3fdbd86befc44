package io.fibry.nats;

import io.fibry.cluster.ClusterNetwork;
import io.fibry.cluster.TransportException;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.text.Lines;
import io.nats.client.AuthenticationException;
import io.nats.client.Connection;
import io.nats.client.Dispatcher;
import io.nats.client.Nats;
import io.nats.client.Options;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import javax.net.ssl.SSLContext;

/**
 * Servers of NATS with JetStream, 2.12 or newer, that nodes find each other by. Immutable.
 *
 * {@snippet :
 * var servers = "nats://n1:4222,nats://n2:4222,nats://n3:4222";
 * var network = NatsNetwork.connectTo(servers).withReplicas(3);
 * var cluster = Cluster.join("bank", network, options -> options.withNode("n1"));
 * }
 */
public final class NatsNetwork implements ClusterNetwork {
  private static final String MIN_VERSION = "2.12.1";
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5); // to one server
  private static final Duration PING_INTERVAL = Duration.ofSeconds(1); // the fourth without an answer: it is cut
  private static final int MAX_OUTGOING = 16_384; // messages that wait for the socket

  private final String servers;
  private final int replicas;
  private final Role role;
  private final UnaryOperator<Options.Builder> customizer;

  private NatsNetwork(String servers, int replicas, Role role, UnaryOperator<Options.Builder> customizer) {
    this.servers = servers;
    this.replicas = replicas;
    this.role = role;
    this.customizer = customizer;
  }

  /** What a program may do. Its server enforces it by {@link #permissions(String, Role)}. */
  public enum Role {
    /**
     * All that an app needs: makes its streams, and deletes turns that no store reads any more, and
     * messages that are done. A program has this role unless {@link #withRole} says otherwise.
     */
    KEEPER,
    /**
     * All that a node does, but it can neither make streams nor delete turns, snapshots and
     * messages of durable actors. It asks a keeper to do that, which deletes only what no store
     * reads any more. If no store with the role KEEPER is open, they stay for now: work continues,
     * but an actor stores with each turn the ids of the messages that it has done, and refuses
     * turns when these ids are too many for a message of NATS, some ten thousand. A node can change
     * what actors know, and take work from queues.
     */
    NODE,
    /**
     * Asks actors that others offer, and entities, and reads which nodes are alive. It is no
     * member, and has no store, no topics, no queues and no entities of its own.
     */
    ASKER
  }

  /**
   * Where the servers are.
   *
   * @param servers URLs with commas between them, such as {@code nats://n1:4222}, or {@code tls://}
   * for TLS with the certificates that the JDK trusts. One server is enough, since it tells the
   * others
   * @return what it keeps is on one server, unless {@link #withReplicas} says more
   */
  public static NatsNetwork connectTo(String servers) {
    var network = new NatsNetwork(Objects.requireNonNull(servers, "servers"), 1, Role.KEEPER, builder -> builder);
    network.options(new ClientIdentity("check", "check", Role.KEEPER)); // its URLs
    return network;
  }

  /**
   * On how many servers each entry and record is kept, so that one may fail.
   *
   * @param servers 1, 3 or 5, and not more than there are servers
   * @return a changed copy
   */
  public NatsNetwork withReplicas(int servers) {
    if (servers != 1 && servers != 3 && servers != 5) throw new IllegalArgumentException(
        servers + " replicas; take 1, 3 or 5, since a majority decides");
    return new NatsNetwork(this.servers, servers, role, customizer);
  }

  /**
   * Sets the credentials of this program at the servers.
   *
   * @param file of credentials, as {@code nsc} writes them
   * @return a changed copy
   */
  public NatsNetwork withCredentials(Path file) {
    String path = Objects.requireNonNull(file, "file").toString();
    return withOptions(builder -> builder.authHandler(Nats.credentials(path)));
  }

  /**
   * Encrypts, and checks who the servers are.
   *
   * @param context certificates and keys
   * @return a changed copy
   */
  public NatsNetwork withTls(SSLContext context) {
    Objects.requireNonNull(context, "context");
    return withOptions(builder -> builder.sslContext(context));
  }

  /**
   * Changes how the client connects: a token, a proxy, time-outs.
   *
   * @param options gets and returns the client's options; the library sets those of reconnecting,
   * its threads and its listeners
   * @return a changed copy
   */
  public NatsNetwork withOptions(UnaryOperator<Options.Builder> options) {
    Objects.requireNonNull(options, "options");
    return new NatsNetwork(servers, replicas, role, builder -> options.apply(customizer.apply(builder)));
  }

  /**
   * Sets the role of this program, which its user must be permitted to have.
   *
   * @param role by default {@link Role#KEEPER}
   * @return a changed copy
   */
  public NatsNetwork withRole(Role role) {
    return new NatsNetwork(servers, replicas, Objects.requireNonNull(role, "role"), customizer);
  }

  /**
   * What a server must let the keepers of an app do, as {@link #permissions(String, Role)} says.
   *
   * @param app of the nodes
   * @return what stands between the braces of {@code permissions}
   */
  public static String permissions(String app) {
    return permissions(app, Role.KEEPER);
  }

  /**
   * Returns the permissions that the programs of an app need, and no more, for a user in the
   * configuration of a server: {@code {user: bank, password: .., permissions: {..}}}. They cannot
   * delete streams, nor reach other apps. Only keepers can purge a stream. The server permits that
   * for all messages of a stream or for none, so give the other roles to programs that you trust
   * less.
   *
   * @param app of the nodes
   * @param role the role of the program, which the program sets by {@link #withRole}
   * @return what stands between the braces of {@code permissions}
   */
  public static String permissions(String app, Role role) {
    return Permissions.of(checked(app), Objects.requireNonNull(role, "role")).text();
  }

  private Options.Builder options(ClientIdentity identity) {
    try {
      return customizer.apply(Options.builder().servers(ServerUrls.split(servers)).connectionTimeout(CONNECT_TIMEOUT)
          .pingInterval(PING_INTERVAL).maxPingsOut(3))
          .connectionName(identity.app() + "/" + identity.node()).inboxPrefix(identity.inboxes());
    } catch (IllegalArgumentException refused) {
      if (!ServerUrls.mayShow(Lines.message(refused))) throw new IllegalArgumentException(
          "a URL of a server of NATS is malformed; write nats://n1:4222,nats://n2:4222, and special characters "
              + "of a password with percent signs: %40 for @");
      throw refused;
    }
  }

  @Override
  public ClusterTransport connect(String app, String node) {
    return connect(app, node, NatsTable.TableTimings.DEFAULT);
  }

  ClusterTransport connect(String app, String node, NatsTable.TableTimings times) {
    var link = openConnection(app, node);
    boolean usable = false;
    try {
      var engine = role == Role.ASKER ? new AskOnlyTransport(link)
          : new NatsTransport(link, NatsTable.of(link.connection(), app, replicas, role, times),
              () -> store(link, app, NatsStore.Options.DEFAULT, () -> {}), () -> work(link, app));
      usable = true;
      return engine;
    } finally {
      if (!usable) link.close();
    }
  }

  NatsStore openStore(String app, NatsStore.Options options) {
    if (role == Role.ASKER) throw new ClientIdentity(checked(app), "store", role).denied("open a store", Role.NODE);
    var link = openConnection(checked(app), "store-" + UUID.randomUUID().toString().substring(0, 8));
    boolean usable = false;
    try {
      var store = store(link, app, options, link::close);
      usable = true;
      return store;
    } finally {
      if (!usable) link.close();
    }
  }

  private static String checked(String app) {
    if (!Objects.requireNonNull(app, "app").matches("[a-z][a-z0-9-]{0,63}")) throw new IllegalArgumentException(
        "'" + app + "' cannot name an app: take 1 to 64 lower-case letters, digits and hyphens, a letter first");
    return app;
  }

  private NatsStore store(NatsConnection link, String app, NatsStore.Options options, Runnable closing) {
    var subjects = new StoreSubjects(app);
    try {
      var log = new JetStreamLog(link, subjects.stream(), options.requestLimit(), purges(app));
      log.make(subjects.all(), replicas, role);
      return withPurgeService(link, new StreamStore(log, subjects, options, closing));
    } catch (IOException cut) {
      throw noReply(cut);
    }
  }

  PurgeTarget purges(String app) {
    return role == Role.KEEPER ? PurgeTarget.atServer(new StoreSubjects(app).stream()) : PurgeTarget.throughKeeper(app);
  }

  /** A keeper deletes for nodes until its connection is closed. */
  private StreamStore withPurgeService(NatsConnection link, StreamStore store) {
    if (role == Role.KEEPER) PurgeService.begin(store, link);
    return store;
  }

  private JetStreamLog work(NatsConnection link, String app) {
    try {
      NatsQueue.make(link.connection().jetStreamManagement(), app, replicas, role);
      return new JetStreamLog(link, NatsQueue.stream(app), NatsStore.Options.DEFAULT.requestLimit());
    } catch (IOException cut) {
      throw noReply(cut);
    }
  }

  private static TransportException noReply(IOException cut) {
    return new TransportException(Failure.DISCONNECTED, "JetStream does not answer: " + ConnectionErrors.text(cut));
  }

  NatsConnection openConnection(String app, String node) {
    var identity = new ClientIdentity(app, node, role);
    var errors = new ConnectionErrors(identity);
    var threads = Thread.ofVirtual().name("nats-" + node).factory();
    var callbacks = Executors.newSingleThreadExecutor(threads);
    var options = options(identity).maxReconnects(-1).reconnectBufferSize(0)
        .maxMessagesInOutgoingQueue(MAX_OUTGOING).executor(Executors.newThreadPerTaskExecutor(threads))
        .callbackExecutor(callbacks).connectThreadFactory(threads).errorListener(errors)
        .connectionListener(errors).build();
    var connection = open(options, errors, callbacks);
    boolean usable = false;
    try {
      checkVersion(connection);
      var link = new NatsConnection(connection, errors);
      usable = true;
      return link;
    } finally {
      if (!usable) close(connection);
    }
  }

  private Connection open(Options options, ConnectionErrors errors, ExecutorService callbacks) {
    try {
      return connect(options, callbacks);
    } catch (AuthenticationException refused) {
      throw new TransportException(Failure.DENIED,
          "the server of NATS refuses this program: " + ConnectionErrors.text(refused));
    } catch (IOException cut) {
      throw new TransportException(Failure.DISCONNECTED,
          "no server of NATS can be used: " + errors.textWithReasons(cut));
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new TransportException(Failure.DISCONNECTED, "interrupted while it connected to " + this);
    }
  }

  /** Connects; if that fails, waits until the client has told asynchronously why. */
  private static Connection connect(Options options, ExecutorService callbacks)
      throws IOException, InterruptedException {
    try {
      return Nats.connect(options);
    } catch (IOException failed) {
      callbacks.shutdown();
      callbacks.awaitTermination(CONNECT_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS);
      throw failed;
    }
  }

  private static void checkVersion(Connection connection) {
    var server = connection.getServerInfo();
    if (!server.isSameOrNewerThanVersion(MIN_VERSION)) throw new IllegalStateException("the server of NATS at "
        + ConnectionErrors.address(connection) + " is of version " + server.getVersion() + "; take " + MIN_VERSION
        + " or newer, since older ones do not check all that it must");
    if (!server.isJetStreamAvailable()) throw new IllegalStateException(
        "the server of NATS at " + ConnectionErrors.address(connection) + " has no JetStream; start it with -js");
  }

  /** Closes at once: messages that wait to be read are dropped. */
  static void close(Connection connection, Dispatcher dispatcher) {
    if (dispatcher.isActive() && connection.getStatus() != Connection.Status.CLOSED)
      connection.closeDispatcher(dispatcher);
  }

  static void close(Connection connection) {
    boolean interrupted = Thread.interrupted(); // it would not close
    try {
      connection.close();
    } catch (InterruptedException again) {
      interrupted = true;
    } finally {
      if (interrupted) Thread.currentThread().interrupt();
    }
  }

  /** {@return 6 seconds, or 20 with several servers: an election of theirs takes up to 10} */
  @Override
  public Duration lease() {
    return Duration.ofSeconds(replicas > 1 ? 20 : 6);
  }

  @Override
  public String toString() {
    return "NATS at " + ServerUrls.redactAll(servers);
  }
}
