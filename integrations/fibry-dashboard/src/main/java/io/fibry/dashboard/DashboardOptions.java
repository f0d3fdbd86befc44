package io.fibry.dashboard;

import io.fibry.net.HttpOptions;
import io.fibry.net.ServerTls;
import io.fibry.text.Durations;
import java.net.InetAddress;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Options of a dashboard: its address, access and contents. Immutable and thread-safe.
 * {@snippet class="io.fibry.dashboard.JavadocSnippetsTest" region="options"}
 */
public final class DashboardOptions {
  static final DashboardOptions DEFAULT = new DashboardOptions(InetAddress.getLoopbackAddress(), Set.of(),
      Optional.empty(), Optional.empty(), false, Duration.ofSeconds(10), List.of());
  private static final int MIN_PASSWORD_LENGTH = 12; // characters; long, because failed guesses are not slowed down
  private static final int MAX_EXCHANGES = 64;

  final InetAddress address;
  final Set<String> extraHosts; // permitted hosts besides the address and localhost, in lower case
  final Optional<String> password;
  final Optional<ServerTls> tls;
  final boolean messageTexts;
  final Duration handlingLimit;
  final List<ValuesPanel> panels;

  private DashboardOptions(InetAddress address, Set<String> hosts, Optional<String> password, Optional<ServerTls> tls,
      boolean messageTexts, Duration handlingLimit, List<ValuesPanel> panels) {
    this.address = address;
    this.extraHosts = hosts;
    this.password = password;
    this.tls = tls;
    this.messageTexts = messageTexts;
    this.handlingLimit = handlingLimit;
    this.panels = panels;
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
    return new DashboardOptions(Objects.requireNonNull(address, "address"), extraHosts, password, tls, messageTexts,
        handlingLimit, panels);
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
    return new DashboardOptions(address, Set.copyOf(allHosts), password, tls, messageTexts, handlingLimit, panels);
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
    return new DashboardOptions(address, extraHosts, Optional.of(password), tls, messageTexts, handlingLimit, panels);
  }

  /**
   * Uses TLS. The settings decide whether clients need certificates, too.
   *
   * @param tls the server's certificate, and whether clients need certificates
   * @return a changed copy
   */
  public DashboardOptions withTls(ServerTls tls) {
    return new DashboardOptions(address, extraHosts, password, Optional.of(tls), messageTexts, handlingLimit, panels);
  }

  /**
   * Shows the contents of messages that are being handled, and of dead letters, as {@code dump}
   * does.
   *
   * @return a changed copy
   */
  public DashboardOptions withMessageContents() {
    return new DashboardOptions(address, extraHosts, password, tls, true, handlingLimit, panels);
  }

  /**
   * Changes how long the handling of one message may take. An actor whose handler has been busy for
   * longer is stuck, and is shown among the problems. An actor that has waited for a thread for
   * longer is shown there, too.
   *
   * @param limit by default 10 seconds; more than zero
   * @return a changed copy
   */
  public DashboardOptions withHandlingLimit(Duration limit) {
    if (!Objects.requireNonNull(limit, "limit").isPositive()) throw new IllegalArgumentException(
        "a handling limit of " + Durations.text(limit) + " would make each busy actor a problem; give more than zero");
    return new DashboardOptions(address, extraHosts, password, tls, messageTexts, limit, panels);
  }

  /**
   * Adds a panel with values of your own, such as the health of a store or of a node. All viewers
   * see the values as they are.
   *
   * @param title the title of the panel
   * @param values returns names with their values: numbers, flags and texts. The dashboard calls it
   * once a second while a page is open, so it must return soon. If it throws, the panel shows the
   * class of the exception
   * @return a changed copy
   */
  public DashboardOptions withPanel(String title, Supplier<? extends Map<String, ?>> values) {
    var panel = new ValuesPanel(Objects.requireNonNull(title, "title"), Objects.requireNonNull(values, "values"));
    return new DashboardOptions(address, extraHosts, password, tls, messageTexts, handlingLimit,
        Stream.concat(panels.stream(), Stream.of(panel)).toList());
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
