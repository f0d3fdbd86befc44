package io.fibry.nats;

import io.fibry.cluster.TransportException;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.nats.NatsNetwork.Role;
import io.fibry.nats.connection.AppClient;
import io.fibry.nats.connection.AppSubjects;
import io.fibry.nats.connection.ConnectionErrors;
import io.fibry.nats.connection.NatsConnection;
import io.fibry.nats.connection.ServerUrls;
import io.fibry.nats.connection.StoreSubjects;
import io.fibry.nats.store.PurgeService;
import io.fibry.nats.stream.JetStreamLog;
import io.fibry.nats.stream.PurgeTarget;
import io.fibry.nats.transport.AskOnlyTransport;
import io.fibry.nats.transport.NatsQueue;
import io.fibry.nats.transport.NatsTable;
import io.fibry.nats.transport.NatsTransport;
import io.fibry.text.Lines;
import io.nats.client.AuthenticationException;
import io.nats.client.Connection;
import io.nats.client.Nats;
import io.nats.client.Options;
import java.io.IOException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/** Connects to the servers of a {@link NatsNetwork}, and opens transports and stores. */
record NatsConnector(String servers, int replicas, Role role, UnaryOperator<Options.Builder> customizer) {
  private static final String MIN_VERSION = "2.12.1";
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5); // to one server
  // the client reconnects after three pings without an answer
  private static final Duration PING_INTERVAL = Duration.ofSeconds(1);
  private static final int MAX_OUTGOING = 16_384; // messages in the client's queue

  ClusterTransport connect(String app, String node) {
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
    if (role == Role.ASKER) throw new AppClient(app, "store", role).denied("open a store", Role.NODE);
    var connection = openConnection(app, "store-" + UUID.randomUUID().toString().substring(0, 8));
    boolean isUsable = false;
    try {
      var store = store(connection, app, options, connection::close);
      isUsable = true;
      return store;
    } finally {
      if (!isUsable) connection.close();
    }
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
    if (role == Role.KEEPER) PurgeService.begin(store.context(), store.historyCleaner(), connection);
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

  // ---- connections

  /** Throws an exception if a URL is malformed. */
  void checkUrls() {
    options(new AppClient("check", "check", role));
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

  @Override
  public String toString() {
    return "NATS at " + ServerUrls.redactAll(servers);
  }
}
