package io.fibry.nats;

import io.fibry.cluster.ClusterNetwork;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.nats.connection.Permissions;
import io.nats.client.Nats;
import io.nats.client.Options;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
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
     * delete them; the keeper deletes only data that no store reads any more. While no store with
     * the role KEEPER is open, all data stays, and work continues. But with each turn an actor
     * stores the ids of the handled messages that are not deleted yet. If these ids no longer fit
     * into a message of NATS (by default some ten thousand fit), turns of the actor are refused.
     */
    NODE,
    /**
     * Sends requests to entities and to actors that nodes expose, and reads which nodes are alive.
     * It is not a member, and has no store, no topics, no queues and no entities of its own.
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
    network.connector().checkUrls();
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
        replicas + " replicas; take 1, 3 or 5, because a majority decides");
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

  static String checkedApp(String app) {
    if (!Objects.requireNonNull(app, "app").matches("[a-z][a-z0-9-]{0,63}")) throw new IllegalArgumentException(
        "'" + app + "' cannot name an app: take 1 to 64 lower-case letters, digits and hyphens, a letter first");
    return app;
  }

  @Override
  public ClusterTransport connect(String app, String node) {
    return connector().connect(app, node);
  }

  NatsConnector connector() {
    return new NatsConnector(servers, replicas, role, customizer);
  }

  /** {@return 6 seconds; with several replicas 20, because the election of a leader may take 10} */
  @Override
  public Duration lease() {
    return Duration.ofSeconds(replicas > 1 ? 20 : 6);
  }

  @Override
  public String toString() {
    return connector().toString();
  }
}
