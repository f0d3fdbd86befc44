package io.fibry.dashboard;

import io.fibry.net.HttpOptions;
import io.fibry.net.Tls;
import java.net.InetAddress;
import java.util.HashSet;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * What a dashboard shows, and to whom. Immutable and thread-safe.
 * {@snippet class="io.fibry.dashboard.JavadocSnippetsTest" region="options"}
 */
public final class DashboardOptions {
  static final DashboardOptions DEFAULT = new DashboardOptions(InetAddress.getLoopbackAddress(), Set.of(),
      Optional.empty(), Optional.empty(), false);
  private static final int MIN_PASSWORD_LENGTH = 12; // because guesses are not slowed down
  private static final int MAX_EXCHANGES = 64;

  final InetAddress address;
  final Set<String> hosts; // besides the address and localhost; in lower case
  final Optional<String> password;
  final Optional<Tls> tls;
  final boolean messageTexts;

  private DashboardOptions(InetAddress address, Set<String> hosts, Optional<String> password, Optional<Tls> tls,
      boolean messageTexts) {
    this.address = address;
    this.hosts = hosts;
    this.password = password;
    this.tls = tls;
    this.messageTexts = messageTexts;
  }

  /**
   * Where it listens. Other machines need a {@linkplain #withPassword password}, and without
   * {@linkplain #withTls TLS} anybody between can read it.
   *
   * @param address loopback unless changed
   * @return a changed copy
   */
  public DashboardOptions withAddress(InetAddress address) {
    return new DashboardOptions(Objects.requireNonNull(address, "address"), hosts, password, tls, messageTexts);
  }

  /**
   * Answers requests for one more name or address of this machine, as it stands in the browser
   * before the port. Others than {@code localhost} and the bound address are refused, since a
   * page from elsewhere could have its own name lead here.
   *
   * @param host such as {@code dash.example.org}
   * @return a changed copy
   */
  public DashboardOptions withHost(String host) {
    if (host.isBlank() || !host.startsWith("[") && host.contains(":") || host.contains("/"))
      throw new IllegalArgumentException(
          "'" + host + "' is no host of a browser's address; give the part between // and the port");
    var more = new HashSet<>(hosts);
    more.add(host.toLowerCase(Locale.ROOT));
    return new DashboardOptions(address, Set.copyOf(more), password, tls, messageTexts);
  }

  /**
   * Asks for a password, by HTTP's basic authentication; any user name will do.
   *
   * @param password at least 12 characters
   * @return a changed copy
   */
  public DashboardOptions withPassword(String password) {
    if (password.length() < MIN_PASSWORD_LENGTH) throw new IllegalArgumentException("a password of " + password.length()
        + " characters can be guessed; give at least " + MIN_PASSWORD_LENGTH);
    return new DashboardOptions(address, hosts, Optional.of(password), tls, messageTexts);
  }

  /**
   * Speaks TLS, perhaps with certificates of clients.
   *
   * @param tls the certificate, and what is asked of clients
   * @return a changed copy
   */
  public DashboardOptions withTls(Tls tls) {
    return new DashboardOptions(address, hosts, password, Optional.of(tls), messageTexts);
  }

  /**
   * Shows what messages say, as {@code dump} does: of those being handled, and of dead letters.
   *
   * @return a changed copy
   */
  public DashboardOptions withMessageContents() {
    return new DashboardOptions(address, hosts, password, tls, true);
  }

  void check() {
    if (!address.isLoopbackAddress() && password.isEmpty()) throw new IllegalArgumentException("a dashboard on "
        + address.getHostAddress() + " shows the scope to all that reach the port; give withPassword(..), or leave "
        + "it on loopback");
  }

  HttpOptions of(HttpOptions defaults) {
    var limited = defaults.withAddress(address).withMaxBody(0).withMaxExchanges(MAX_EXCHANGES);
    return tls.map(limited::withTls).orElse(limited);
  }
}
