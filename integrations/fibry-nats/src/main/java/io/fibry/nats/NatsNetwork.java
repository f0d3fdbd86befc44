package io.fibry.nats;

import io.fibry.cluster.ClusterNetwork;
import io.fibry.cluster.TransportException;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.text.Lines;
import io.nats.client.AuthenticationException;
import io.nats.client.Connection;
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
 * A network for clusters, over NATS servers with JetStream, version 2.12.1 or newer. Immutable.
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
  // the client reconnects after three pings without an answer
  private static final Duration PING_INTERVAL = Duration.ofSeconds(1);
  private static final int MAX_OUTGOING = 16_384; // messages in the client's queue

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

  /**
   * The rights of a program in its app. Fibry keeps to them. The server enforces them only if its
   * configuration has the {@link #permissions(String, Role)} of the role.
   */
  public enum Role {
    /**
     * The default. Does all that an app needs: creates its streams, and deletes turns that no store
     * reads any more, and messages that were handled.
     */
    KEEPER,
    /**
     * Hosts actors, can change their stored state, and can take work from queues. It cannot create
     * streams, or delete turns, snapshots and messages of durable actors. It asks a keeper to
     * delete them, and the keeper deletes only messages that no store reads any more. If no store
     * with the role KEEPER is open, these messages stay for now, and work continues. But with each
     * turn an actor stores the ids of the handled messages that are not deleted yet. If these ids
     * (some ten thousand) no longer fit into a message of NATS, turns of the actor are refused.
     */
    NODE,
    /**
     * Sends requests to entities and to actors that nodes expose, and reads which nodes are alive.
     * It is no member, and has no store, no topics, no queues and no entities of its own.
     */
    ASKER
  }

  /**
   * Returns a network of these servers. Each message is stored on one server by default, see
   * {@link #withReplicas}.
   *
   * @param servers URLs with commas between them, such as {@code nats://n1:4222}, or {@code tls://}
   * for TLS with the certificates that the JDK trusts. One URL is enough, because the
   * client learns the others from that server
   * @return the network
   */
  public static NatsNetwork connectTo(String servers) {
    var network = new NatsNetwork(Objects.requireNonNull(servers, "servers"), 1, Role.KEEPER, builder -> builder);
    network.options(new AppClient("check", "check", Role.KEEPER)); // checks the URLs
    return network;
  }

  /**
   * Sets on how many servers each message is stored. With 3 one server may fail, with 5 two.
   *
   * @param replicas 1, 3 or 5, and not more than there are servers
   * @return a changed copy
   */
  public NatsNetwork withReplicas(int replicas) {
    if (replicas != 1 && replicas != 3 && replicas != 5) throw new IllegalArgumentException(
        replicas + " replicas; take 1, 3 or 5, since a majority decides");
    return new NatsNetwork(servers, replicas, role, customizer);
  }

  /**
   * Sets the credentials with which this program connects to the servers.
   *
   * @param file a credentials file, as {@code nsc} writes it
   * @return a changed copy
   */
  public NatsNetwork withCredentials(Path file) {
    String path = Objects.requireNonNull(file, "file").toString();
    return withOptions(builder -> builder.authHandler(Nats.credentials(path)));
  }

  /**
   * Encrypts connections with TLS, and checks the certificates of the servers.
   *
   * @param context certificates and keys
   * @return a changed copy
   */
  public NatsNetwork withTls(SSLContext context) {
    Objects.requireNonNull(context, "context");
    return withOptions(builder -> builder.sslContext(context));
  }

  /**
   * Changes options of the client, such as a token, a proxy or time-outs.
   *
   * @param options gets and returns the client's options; Fibry itself sets the options for
   * reconnecting, threads and listeners
   * @return a changed copy
   */
  public NatsNetwork withOptions(UnaryOperator<Options.Builder> options) {
    Objects.requireNonNull(options, "options");
    return new NatsNetwork(servers, replicas, role, builder -> options.apply(customizer.apply(builder)));
  }

  /**
   * Sets the role of this program. The permissions of its user must allow that role.
   *
   * @param role by default {@link Role#KEEPER}
   * @return a changed copy
   */
  public NatsNetwork withRole(Role role) {
    return new NatsNetwork(servers, replicas, Objects.requireNonNull(role, "role"), customizer);
  }

  /**
   * Returns the permissions of a keeper, see {@link #permissions(String, Role)}.
   *
   * @param app the name of the app
   * @return the text between the braces of {@code permissions}
   */
  public static String permissions(String app) {
    return permissions(app, Role.KEEPER);
  }

  /**
   * Returns the permissions that a program of an app needs, and no more. Put them into the
   * configuration of the servers: {@code {user: bank, password: .., permissions: {..}}}. The
   * program then cannot delete streams, nor reach other apps. Only keepers can purge a stream. The
   * server permits purges for all messages of a stream or for none, so give the other roles to
   * programs that you trust less.
   *
   * @param app the name of the app
   * @param role the role of the program, which the program sets by {@link #withRole}
   * @return the text between the braces of {@code permissions}
   */
  public static String permissions(String app, Role role) {
    return Permissions.of(checkedApp(app), Objects.requireNonNull(role, "role")).text();
  }

  private Options.Builder options(AppClient identity) {
    try {
      return customizer.apply(Options.builder().servers(ServerUrls.split(servers)).connectionTimeout(CONNECT_TIMEOUT)
          .pingInterval(PING_INTERVAL).maxPingsOut(3))
          .connectionName(identity.app() + "/" + identity.node()).inboxPrefix(identity.inboxPrefix());
    } catch (IllegalArgumentException refusal) {
      if (!ServerUrls.isSafeToShow(Lines.message(refusal))) throw new IllegalArgumentException(
          "a URL of a server of NATS is malformed; write nats://n1:4222,nats://n2:4222, and special characters "
              + "of a password with percent signs: %40 for @");
      throw refusal;
    }
  }

  @Override
  public ClusterTransport connect(String app, String node) {
    return connect(app, node, NatsTable.TableTimings.DEFAULT);
  }

  ClusterTransport connect(String app, String node, NatsTable.TableTimings timings) {
    var connection = openConnection(app, node);
    boolean isUsable = false;
    try {
      var transport = role == Role.ASKER ? new AskOnlyTransport(connection)
          : new NatsTransport(connection, NatsTable.of(connection.connection(), app, replicas, role, timings),
              () -> store(connection, app, NatsStore.Options.DEFAULT, () -> {}), () -> openWorkLog(connection, app));
      isUsable = true;
      return transport;
    } finally {
      if (!isUsable) connection.close();
    }
  }

  NatsStore openStore(String app, NatsStore.Options options) {
    if (role == Role.ASKER) throw new AppClient(checkedApp(app), "store", role).denied("open a store", Role.NODE);
    var connection = openConnection(checkedApp(app), "store-" + UUID.randomUUID().toString().substring(0, 8));
    boolean isUsable = false;
    try {
      var store = store(connection, app, options, connection::close);
      isUsable = true;
      return store;
    } finally {
      if (!isUsable) connection.close();
    }
  }

  private static String checkedApp(String app) {
    if (!Objects.requireNonNull(app, "app").matches("[a-z][a-z0-9-]{0,63}")) throw new IllegalArgumentException(
        "'" + app + "' cannot name an app: take 1 to 64 lower-case letters, digits and hyphens, a letter first");
    return app;
  }

  private NatsStore store(NatsConnection connection, String app, NatsStore.Options options, Runnable onClose) {
    var subjects = new StoreSubjects(app);
    try {
      var log = new JetStreamLog(connection, subjects.streamName(), options.requestLimit(), purgeTarget(app));
      log.createStream(subjects.allFilters(), replicas, role);
      return withPurgeService(connection, new StreamStore(log, subjects, options, onClose));
    } catch (IOException failure) {
      throw noReply(failure);
    }
  }

  PurgeTarget purgeTarget(String app) {
    return role == Role.KEEPER ? PurgeTarget.atServer(new StoreSubjects(app).streamName())
        : PurgeTarget.throughKeeper(app);
  }

  /** Returns the store. A keeper also begins to purge for nodes, until its connection closes. */
  private StreamStore withPurgeService(NatsConnection connection, StreamStore store) {
    if (role == Role.KEEPER) PurgeService.begin(store, connection);
    return store;
  }

  private JetStreamLog openWorkLog(NatsConnection connection, String app) {
    var subjects = new AppSubjects(app);
    try {
      NatsQueue.createStream(connection.connection().jetStreamManagement(), subjects, replicas, role);
      return new JetStreamLog(connection, subjects.workStream(), NatsStore.Options.DEFAULT.requestLimit());
    } catch (IOException failure) {
      throw noReply(failure);
    }
  }

  private static TransportException noReply(IOException failure) {
    return new TransportException(Failure.DISCONNECTED, "JetStream does not answer: " + ConnectionErrors.text(failure));
  }

  NatsConnection openConnection(String app, String node) {
    var identity = new AppClient(app, node, role);
    var errors = new ConnectionErrors(identity);
    var threads = Thread.ofVirtual().name("nats-" + node).factory();
    var callbacks = Executors.newSingleThreadExecutor(threads);
    var options = options(identity).maxReconnects(-1).reconnectBufferSize(0)
        .maxMessagesInOutgoingQueue(MAX_OUTGOING).executor(Executors.newThreadPerTaskExecutor(threads))
        .callbackExecutor(callbacks).connectThreadFactory(threads).errorListener(errors)
        .connectionListener(errors).build();
    var connection = open(options, errors, callbacks);
    boolean isUsable = false;
    try {
      checkVersion(connection);
      var natsConnection = new NatsConnection(connection, errors);
      isUsable = true;
      return natsConnection;
    } finally {
      if (!isUsable) NatsConnection.close(connection);
    }
  }

  private Connection open(Options options, ConnectionErrors errors, ExecutorService callbacks) {
    try {
      return connect(options, callbacks);
    } catch (AuthenticationException refusal) {
      throw new TransportException(Failure.DENIED,
          "the server of NATS refuses this program: " + ConnectionErrors.text(refusal));
    } catch (IOException failure) {
      throw new TransportException(Failure.DISCONNECTED,
          "no server of NATS can be used: " + errors.textWithReasons(failure));
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new TransportException(Failure.DISCONNECTED, "the thread was interrupted while it connected to " + this);
    }
  }

  /** Connects. If that fails, waits until the client's callbacks have reported the reasons. */
  private static Connection connect(Options options, ExecutorService callbacks)
      throws IOException, InterruptedException {
    try {
      return Nats.connect(options);
    } catch (IOException failure) {
      callbacks.shutdown();
      callbacks.awaitTermination(CONNECT_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS);
      throw failure;
    }
  }

  private static void checkVersion(Connection connection) {
    var server = connection.getServerInfo();
    if (!server.isSameOrNewerThanVersion(MIN_VERSION)) throw new IllegalStateException("the server of NATS at "
        + ConnectionErrors.address(connection) + " is of version " + server.getVersion() + "; take " + MIN_VERSION
        + " or newer, because older ones lack checks that Fibry needs");
    if (!server.isJetStreamAvailable()) throw new IllegalStateException(
        "the server of NATS at " + ConnectionErrors.address(connection) + " has no JetStream; start it with -js");
  }

  /** {@return 6 seconds, or 20 with several replicas, whose election of a leader may take 10} */
  @Override
  public Duration lease() {
    return Duration.ofSeconds(replicas > 1 ? 20 : 6);
  }

  @Override
  public String toString() {
    return "NATS at " + ServerUrls.redactAll(servers);
  }
}
