package io.fibry.dashboard;

import io.fibry.net.HttpOptions;
import io.fibry.net.ServerTls;
import java.net.InetAddress;
import java.util.HashSet;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * Options of a dashboard: its address, access and contents. Immutable and thread-safe.
 * {@snippet class="io.fibry.dashboard.JavadocSnippetsTest" region="options"}
 */
public final class DashboardOptions {
  static final DashboardOptions DEFAULT = new DashboardOptions(InetAddress.getLoopbackAddress(), Set.of(),
      Optional.empty(), Optional.empty(), false);
  private static final int MIN_PASSWORD_LENGTH = 12; // characters; long, because failed guesses are not slowed down
  private static final int MAX_EXCHANGES = 64;

  final InetAddress address;
  final Set<String> extraHosts; // permitted hosts besides the address and localhost, in lower case
  final Optional<String> password;
  final Optional<ServerTls> tls;
  final boolean messageTexts;

  private DashboardOptions(InetAddress address, Set<String> hosts, Optional<String> password, Optional<ServerTls> tls,
      boolean messageTexts) {
    this.address = address;
    this.extraHosts = hosts;
    this.password = password;
    this.tls = tls;
    this.messageTexts = messageTexts;
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
    return new DashboardOptions(Objects.requireNonNull(address, "address"), extraHosts, password, tls, messageTexts);
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
    return new DashboardOptions(address, Set.copyOf(allHosts), password, tls, messageTexts);
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
    return new DashboardOptions(address, extraHosts, Optional.of(password), tls, messageTexts);
  }

  /**
   * Uses TLS. The settings decide whether clients need certificates, too.
   *
   * @param tls the server's certificate, and whether clients need certificates
   * @return a changed copy
   */
  public DashboardOptions withTls(ServerTls tls) {
    return new DashboardOptions(address, extraHosts, password, Optional.of(tls), messageTexts);
  }

  /**
   * Shows the contents of messages that are being handled, and of dead letters, as {@code dump}
   * does.
   *
   * @return a changed copy
   */
  public DashboardOptions withMessageContents() {
    return new DashboardOptions(address, extraHosts, password, tls, true);
  }

  void check() {
    if (!address.isLoopbackAddress() && password.isEmpty()) throw new IllegalArgumentException("a dashboard on "
        + address.getHostAddress() + " shows the scope to all that reach the port; give withPassword(..), or leave "
        + "it on loopback");
  }

  HttpOptions serverOptions(HttpOptions defaults) {
    var changed = defaults.withAddress(address).withMaxBody(0).withMaxExchanges(MAX_EXCHANGES);
    return tls.map(changed::withTls).orElse(changed);
  }
}
