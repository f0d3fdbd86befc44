package io.fibry.net;

import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;

/**
 * How a server speaks TLS: its certificate, and its requirements for clients. Immutable and
 * thread-safe.
 * {@snippet class="io.fibry.TlsSnippetsTest" region="tls"}
 */
public final class ServerTls {
  private final Supplier<SSLContext> contexts;
  private final Consumer<SSLParameters> parameterChange;
  private final boolean hasClientTrust; // false only for files without authorities of clients

  private ServerTls(Supplier<SSLContext> contexts, boolean hasClientTrust, Consumer<SSLParameters> parameterChange) {
    this.contexts = contexts;
    this.hasClientTrust = hasClientTrust;
    this.parameterChange = parameterChange;
  }

  /**
   * Uses the certificate of this context.
   *
   * @param context has a key manager. If clients need certificates, the context must have a trust
   * manager, too, because the JDK's default trusts all public authorities
   * @return TLS that asks clients for no certificates
   */
  public static ServerTls of(SSLContext context) {
    Objects.requireNonNull(context, "context");
    return of(() -> context);
  }

  /**
   * Gets the context of each connection from a supplier, so that a certificate can be exchanged
   * without a restart.
   *
   * @param contexts must not wait, and must return the same context until the certificate changes,
   * because clients can resume sessions only within one context
   * @return TLS that asks clients for no certificates
   */
  public static ServerTls of(Supplier<SSLContext> contexts) {
    return new ServerTls(Objects.requireNonNull(contexts, "contexts"), true, parameters -> {});
  }

  /**
   * Uses a certificate and its key from two files in PEM form, as authorities issue them. An
   * encrypted key is refused, because its password would have to be stored beside it.
   *
   * <p>The files are read again when they have changed, because a server shall not need a restart
   * when its certificate expires. At most once a second, a new connection checks the modification
   * times and the sizes of the files. A new certificate is used from this connection on; open
   * connections keep the old certificate. While the files are missing or malformed, or do not fit
   * together, the old certificate stays in use, and each change is logged once as a warning with
   * its reason. Replace a file by a rename, so that the server never reads a part of it. For a
   * certificate that must not change, use {@link #of(SSLContext)}.
   *
   * @param certificates the certificate of the server first, then the certificates that lead to its
   * authority
   * @param key the private key of the server (PKCS #8, not encrypted): {@code BEGIN PRIVATE KEY}
   * @return TLS that asks clients for no certificates
   * @throws java.io.UncheckedIOException if a file cannot be read
   * @throws IllegalArgumentException if the files have no certificate with its key, or are swapped,
   * or the key is encrypted; the text then has the command that decrypts the key
   */
  public static ServerTls ofFiles(Path certificates, Path key) {
    return ofFiles(certificates, key, Optional.empty());
  }

  /**
   * Does the same as {@link #ofFiles(Path, Path)}, and reads the authorities of clients from a
   * third file. The authorities are needed for {@code setNeedClientAuth(true)} and
   * {@code setWantClientAuth(true)}.
   *
   * @param certificates the certificate of the server first, then the certificates that lead to its
   * authority
   * @param key the private key of the server (PKCS #8, not encrypted): {@code BEGIN PRIVATE KEY}
   * @param authorities the certificates, in PEM form, of authorities that sign the certificates of
   * clients
   * @return TLS that asks clients for no certificates
   * @throws java.io.UncheckedIOException if a file cannot be read
   * @throws IllegalArgumentException if the files have no certificate with its key, or no
   * authority, or if files are swapped, or the key is encrypted
   */
  public static ServerTls ofFiles(Path certificates, Path key, Path authorities) {
    return ofFiles(certificates, key, Optional.of(Objects.requireNonNull(authorities, "authorities")));
  }

  private static ServerTls ofFiles(Path certificates, Path key, Optional<Path> authorities) {
    var files = new PemFiles(Objects.requireNonNull(certificates, "certificates"), Objects.requireNonNull(key, "key"),
        authorities);
    return new ServerTls(files, authorities.isPresent(), parameters -> {});
  }

  /**
   * Changes the parameters of connections. {@code p -> p.setNeedClientAuth(true)} accepts only
   * clients with a certificate that the context trusts. {@code p.setProtocols(..)} can exclude old
   * protocols.
   *
   * @param change changes the parameters of the context for each connection. If files without
   * authorities were given, this method also calls {@code change} once
   * @return a changed copy
   * @throws IllegalArgumentException if clients are asked for certificates, and only files without
   * authorities were given
   */
  public ServerTls withParameters(Consumer<SSLParameters> change) {
    var copy =
        new ServerTls(contexts, hasClientTrust, parameterChange.andThen(Objects.requireNonNull(change, "change")));
    if (!hasClientTrust) copy.engine();
    return copy;
  }

  /**
   * Returns a supplier, which makes an engine for each connection.
   *
   * @param protocols the application protocols of ALPN, the preferred first
   */
  Supplier<SSLEngine> engines(String... protocols) {
    return () -> engine(protocols);
  }

  private SSLEngine engine(String... protocols) {
    var context = Objects.requireNonNull(contexts.get(), "the supplier of a TLS context gave null");
    var engine = context.createSSLEngine();
    engine.setUseClientMode(false);
    var sslParameters = engine.getSSLParameters();
    sslParameters.setApplicationProtocols(protocols);
    parameterChange.accept(sslParameters);
    boolean asksForCertificates = sslParameters.getNeedClientAuth() || sslParameters.getWantClientAuth();
    if (!hasClientTrust && asksForCertificates) throw new IllegalArgumentException(
        "clients are asked for certificates, but no authorities were given, and the default is every public "
            + "authority; give yours by ServerTls.ofFiles(certificates, key, authorities)");
    engine.setSSLParameters(sslParameters);
    return engine;
  }
}
