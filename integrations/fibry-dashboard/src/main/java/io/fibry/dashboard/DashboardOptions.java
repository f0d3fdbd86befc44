package io.fibry.dashboard;

import io.fibry.cluster.Cluster;
import io.fibry.net.HttpOptions;
import io.fibry.net.HttpServer;
import io.fibry.net.ServerTls;
import io.fibry.pubsub.Topic;
import io.fibry.store.folder.FolderStore;
import io.fibry.text.Durations;
import java.lang.invoke.VarHandle;
import java.net.InetAddress;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Options of a dashboard: its address, access and contents. Immutable and thread-safe.
 * {@snippet class="io.fibry.dashboard.JavadocSnippetsTest" region="options"}
 */
public final class DashboardOptions implements Cloneable {
  static final DashboardOptions DEFAULT = new DashboardOptions();
  private static final int MIN_PASSWORD_LENGTH = 12; // characters; long, because failed guesses are not slowed down
  private static final int MAX_EXCHANGES = 64;

  // changed by `with` only, before other threads know the copy
  InetAddress address = InetAddress.getLoopbackAddress();
  Set<String> extraHosts = Set.of(); // permitted hosts besides the address and localhost, in lower case
  Optional<String> password = Optional.empty();
  Optional<ServerTls> tls = Optional.empty();
  boolean messageTexts;
  Duration handlingLimit = Duration.ofSeconds(10);
  Duration waitingLimit = Duration.ofSeconds(30);
  Duration slowLimit = Duration.ofSeconds(1);
  List<Panel> panels = List.of();

  private DashboardOptions() {}

  private DashboardOptions with(Consumer<DashboardOptions> change) {
    DashboardOptions copy;
    try {
      copy = (DashboardOptions) clone();
    } catch (CloneNotSupportedException impossible) {
      throw new AssertionError(impossible);
    }
    change.accept(copy);
    VarHandle.storeStoreFence(); // a thread that gets the copy by a data race sees all its fields
    return copy;
  }

  /**
   * Changes the address on which the dashboard listens. An address that other machines can reach
   * needs a {@linkplain #withPassword password}. Without {@linkplain #withTls TLS}, pages and
   * password can be read on the network.
   *
   * @param address the address; by default loopback
   * @return a changed copy
   */
  public DashboardOptions withAddress(InetAddress address) {
    Objects.requireNonNull(address, "address");
    return with(copy -> copy.address = address);
  }

  /**
   * Permits one more host name or address of this machine in the address line of a browser.
   * Only {@code localhost} and the address on which the dashboard listens are permitted by default.
   * If all hosts were permitted, another site could let its own name lead to this machine (DNS
   * rebinding).
   *
   * @param host such as {@code dash.example.org}
   * @return a changed copy
   */
  public DashboardOptions withHost(String host) {
    if (host.isBlank() || !host.startsWith("[") && host.contains(":") || host.contains("/"))
      throw new IllegalArgumentException(
          "'" + host + "' is no host of a browser's address; give the part between // and the port");
    var allHosts = new HashSet<>(extraHosts);
    allHosts.add(host.toLowerCase(Locale.ROOT));
    return with(copy -> copy.extraHosts = Set.copyOf(allHosts));
  }

  /**
   * Requires a password, by HTTP's basic authentication. The user name is ignored.
   *
   * @param password at least 12 characters
   * @return a changed copy
   */
  public DashboardOptions withPassword(String password) {
    if (password.length() < MIN_PASSWORD_LENGTH) throw new IllegalArgumentException("a password of " + password.length()
        + " characters can be guessed; give at least " + MIN_PASSWORD_LENGTH);
    return with(copy -> copy.password = Optional.of(password));
  }

  /**
   * Uses TLS. The settings decide whether clients need certificates, too.
   *
   * @param tls the server's certificate, and whether clients need certificates
   * @return a changed copy
   */
  public DashboardOptions withTls(ServerTls tls) {
    Objects.requireNonNull(tls, "tls");
    return with(copy -> copy.tls = Optional.of(tls));
  }

  /**
   * Shows the contents of messages that are being handled, and of dead letters, as {@code dump}
   * does, and the text of the last failure of an actor.
   *
   * @return a changed copy
   */
  public DashboardOptions withMessageContents() {
    return with(copy -> copy.messageTexts = true);
  }

  /**
   * Changes how long the handling of one message may take. An actor whose handler has been busy for
   * longer is stuck, and is shown among the problems. An actor that has waited for a thread for
   * longer is shown there, too, and a route with a handler that has been at work for longer.
   *
   * @param limit by default 10 seconds; more than zero
   * @return a changed copy
   */
  public DashboardOptions withHandlingLimit(Duration limit) {
    requirePositive(limit, "a handling limit", "busy actor");
    return with(copy -> copy.handlingLimit = limit);
  }

  /**
   * Changes how long a message may wait in a mailbox. An actor whose oldest message has waited for
   * longer is backlogged, and is shown among the problems.
   *
   * @param limit by default 30 seconds; more than zero
   * @return a changed copy
   */
  public DashboardOptions withWaitingLimit(Duration limit) {
    requirePositive(limit, "a waiting limit", "actor with a waiting message");
    return with(copy -> copy.waitingLimit = limit);
  }

  /**
   * Changes how long an exchange of a route may take. A route is slow, and shown among the
   * problems, if at least 1 % of its successes in the last 30 to 60 seconds, and at least two, took
   * longer. Successes are responses with a status of 200 to 299. The server counts times in
   * buckets, so the limit is rounded up to the bound of a bucket. Exchanges of more than 10 seconds
   * are not counted, because event streams take so long.
   *
   * @param limit by default one second; more than zero. If it is 10 seconds or more, a route is
   * slow only if it was stuck
   * @return a changed copy
   */
  public DashboardOptions withSlowLimit(Duration limit) {
    requirePositive(limit, "a slow limit", "route");
    return with(copy -> copy.slowLimit = limit);
  }

  private static void requirePositive(Duration limit, String limitText, String problem) {
    if (!Objects.requireNonNull(limit, "limit").isPositive()) throw new IllegalArgumentException(
        limitText + " of " + Durations.text(limit) + " would make each " + problem + " a problem; give more than zero");
  }

  /**
   * Adds a panel with values of your own, such as the number of customers. All viewers see the
   * values as they are.
   *
   * @param title the title of the panel
   * @param values returns names with their values: numbers, flags and texts. The dashboard calls it
   * once a second while a page is open, so it must return soon. If it throws, the panel shows the
   * class of the exception
   * @return a changed copy
   */
  public DashboardOptions withPanel(String title, Supplier<? extends Map<String, ?>> values) {
    return withPanel(new ValuesPanel(Objects.requireNonNull(title, "title"), Objects.requireNonNull(values, "values")));
  }

  private DashboardOptions withPanel(Panel panel) {
    var longerList = Stream.concat(panels.stream(), Stream.of(panel)).toList();
    return with(copy -> copy.panels = longerList);
  }

  /**
   * Adds a table with the routes of an HTTP server: the counts of their responses by status, and
   * the rate and times of the last 30 to 60 seconds. A route is among the problems if at least 1 %
   * of its responses in this time had a status of 500 or above, if it is
   * {@linkplain #withSlowLimit slow}, or if a handler is {@linkplain #withHandlingLimit stuck}.
   * {@snippet class="io.fibry.dashboard.JavadocSnippetsTest" region="panels"}
   *
   * @param name the name of the server on the page
   * @param server the server; the dashboard does not close it
   * @return a changed copy
   */
  public DashboardOptions withRoutes(String name, HttpServer server) {
    return withPanel(new RoutesPanel(Objects.requireNonNull(name, "name"), Objects.requireNonNull(server, "server")));
  }

  /**
   * Adds a topic to the table of topics: the messages that were published, delivered and lost, and
   * the same for each subscriber. A message that was delivered, and that the full mailbox of an
   * actor of the topic dropped later, counts as lost, too.
   *
   * @param topic the topic; the dashboard does not close it
   * @return a changed copy
   */
  public DashboardOptions withTopic(Topic<?> topic) {
    return withPanel(new TopicPanel(Objects.requireNonNull(topic, "topic")));
  }

  /**
   * Adds a panel with the health of a store of durable actors. The store is among the problems if
   * it is broken or full, or if it refused a turn or parked a message within the last minute. Needs
   * {@code fibry-durable}.
   *
   * @param name the name of the store on the page
   * @param store the store; the dashboard does not close it. Its actors with pending messages are
   * counted once a second while a page is open, and otherwise every ten seconds or more seldom
   * @return a changed copy
   */
  @SuppressWarnings("exports") // the module io.fibry.durable is optional
  public DashboardOptions withStore(String name, FolderStore store) {
    return withPanel(new StorePanel(Objects.requireNonNull(name, "name"), Objects.requireNonNull(store, "store")));
  }

  /**
   * Adds a panel with the health of a node of a cluster. The node is among the problems if its
   * lease has expired or it is disconnected, and also after it has left the cluster. Needs
   * {@code fibry-cluster}.
   *
   * @param cluster the node's cluster; the dashboard does not close it
   * @return a changed copy
   */
  @SuppressWarnings("exports") // the module io.fibry.cluster is optional
  public DashboardOptions withCluster(Cluster cluster) {
    return withPanel(NodePanel.of(Objects.requireNonNull(cluster, "cluster")));
  }

  void check() {
    if (!address.isLoopbackAddress() && password.isEmpty()) throw new IllegalArgumentException("a dashboard on "
        + address.getHostAddress() + " shows the scope to all that reach the port; give withPassword(..), or leave "
        + "it on loopback");
  }

  HttpOptions serverOptions(HttpOptions defaults) {
    var changed =
        defaults.withAddress(address).withHosts(hosts()).withMaxBody(0).withMaxExchanges(MAX_EXCHANGES);
    return tls.map(changed::withTls).orElse(changed);
  }

  private String[] hosts() {
    var hosts = new HashSet<>(extraHosts);
    hosts.addAll(Set.of("localhost", "127.0.0.1", "[::1]"));
    if (!address.isAnyLocalAddress()) hosts.add(hostText(address));
    return hosts.toArray(String[]::new);
  }

  /** Returns an address as the address line of a browser has it. */
  static String hostText(InetAddress address) {
    var text = address.getHostAddress();
    return text.contains(":") ? "[" + text.replaceFirst("%.*", "") + "]" : text;
  }
}
