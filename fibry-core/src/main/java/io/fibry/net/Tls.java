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
 * How a server speaks TLS: its certificate, and what it asks of clients. Immutable and thread-safe.
 * {@snippet class="io.fibry.TlsSnippetsTest" region="tls"}
 */
public final class Tls {
  private final Supplier<SSLContext> contexts;
  private final Consumer<SSLParameters> parameters;
  private final boolean trusting; // the context knows whose certificates it takes

  private Tls(Supplier<SSLContext> contexts, boolean trusting, Consumer<SSLParameters> parameters) {
    this.contexts = contexts;
    this.trusting = trusting;
    this.parameters = parameters;
  }

  /**
   * With the certificate of this context.
   *
   * @param context has a key manager. Where clients need certificates, it needs a trust manager,
   * too, since the JDK's own trusts all public authorities
   * @return without certificates of clients
   */
  public static Tls of(SSLContext context) {
    Objects.requireNonNull(context, "context");
    return of(() -> context);
  }

  /**
   * Asks for a context with each connection: so a certificate is exchanged without a restart.
   *
   * @param contexts must not wait, and gives the same one until it changes, since sessions are
   *     resumed within one
   * @return without certificates of clients
   */
  public static Tls of(Supplier<SSLContext> contexts) {
    return new Tls(Objects.requireNonNull(contexts, "contexts"), true, none -> {});
  }

  /**
   * With a certificate from two files in PEM form, as authorities give them. Changed files are read
   * again, at most a second later. While they cannot be read, or do not fit together, the
   * certificate stays what it was, and each change is logged once.
   *
   * @param certificates the certificate of the server first, then the certificates that lead to its
   * authority
   * @param key its private key (PKCS #8, not encrypted): {@code BEGIN PRIVATE KEY}
   * @return without certificates of clients
   * @throws java.io.UncheckedIOException if a file cannot be read
   * @throws IllegalArgumentException if they hold no certificate and its key
   */
  public static Tls ofFiles(Path certificates, Path key) {
    return ofFiles(certificates, key, Optional.empty());
  }

  /**
   * Does the same as {@link #ofFiles(Path, Path)}, with the authorities of clients, for
   * {@code setNeedClientAuth(true)} or {@code setWantClientAuth(true)}.
   *
   * @param certificates the certificate of the server first, then the certificates that lead to its
   * authority
   * @param key its private key (PKCS #8, not encrypted): {@code BEGIN PRIVATE KEY}
   * @param authorities the certificates, in PEM form, of those who sign the certificates of clients
   * @return without certificates of clients
   * @throws java.io.UncheckedIOException if a file cannot be read
   * @throws IllegalArgumentException if they hold no certificate and its key, or no authority
   */
  public static Tls ofFiles(Path certificates, Path key, Path authorities) {
    return ofFiles(certificates, key, Optional.of(Objects.requireNonNull(authorities, "authorities")));
  }

  private static Tls ofFiles(Path certificates, Path key, Optional<Path> authorities) {
    var files = new PemFiles(Objects.requireNonNull(certificates, "certificates"), Objects.requireNonNull(key, "key"),
        authorities);
    return new Tls(files, authorities.isPresent(), none -> {});
  }

  /**
   * Changes how connections are agreed on. {@code p -> p.setNeedClientAuth(true)} takes only
   * clients with a certificate that the context trusts; {@code p.setProtocols(..)} leaves old ones
   * out.
   *
   * @param change of what the context has; done for each connection, and now, too, for files
   *     without authorities
   * @return a changed copy
   * @throws IllegalArgumentException if clients are asked for certificates, and only files without
   *     authorities were given
   */
  public Tls withParameters(Consumer<SSLParameters> change) {
    var changed = new Tls(contexts, trusting, parameters.andThen(Objects.requireNonNull(change, "change")));
    if (!trusting) changed.engine();
    return changed;
  }

  /** One for each connection; protocols of the application in the order of preference. */
  Supplier<SSLEngine> engines(String... application) {
    return () -> engine(application);
  }

  private SSLEngine engine(String... application) {
    var context = Objects.requireNonNull(contexts.get(), "the supplier of a TLS context gave null");
    var engine = context.createSSLEngine();
    engine.setUseClientMode(false);
    var all = engine.getSSLParameters();
    all.setApplicationProtocols(application);
    parameters.accept(all);
    if (!trusting && (all.getNeedClientAuth() || all.getWantClientAuth())) throw new IllegalArgumentException(
        "clients are asked for certificates, and nothing says whose are taken: by default that is every public "
            + "authority; give yours, by Tls.ofFiles(certificates, key, authorities)");
    engine.setSSLParameters(all);
    return engine;
  }
}
