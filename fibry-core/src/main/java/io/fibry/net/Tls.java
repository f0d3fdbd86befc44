package io.fibry.net;

import java.nio.file.Path;
import java.util.Objects;
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

  private Tls(Supplier<SSLContext> contexts, Consumer<SSLParameters> parameters) {
    this.contexts = contexts;
    this.parameters = parameters;
  }

  /**
   * With the certificate of this context.
   *
   * @param context has a key manager
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
    return new Tls(Objects.requireNonNull(contexts, "contexts"), none -> {});
  }

  /**
   * With a certificate from two files in PEM form, as authorities give them. Changed files are read
   * anew, at most a second later. While they cannot be read, or do not fit together, the
   * certificate stays what it was, and each change is logged once.
   *
   * @param certificates that of the server first, then those that lead to its authority
   * @param key its private key (PKCS #8, not encrypted): {@code BEGIN PRIVATE KEY}
   * @return without certificates of clients
   * @throws java.io.UncheckedIOException if a file cannot be read
   * @throws IllegalArgumentException if they hold no certificate and its key
   */
  public static Tls ofFiles(Path certificates, Path key) {
    return of(new PemFiles(Objects.requireNonNull(certificates, "certificates"), Objects.requireNonNull(key, "key")));
  }

  /**
   * Changes how connections are agreed on. {@code p -> p.setNeedClientAuth(true)} takes only
   * clients with a certificate that the context trusts; {@code p.setProtocols(..)} leaves old ones
   * out.
   *
   * @param change of what the context has; done for each connection
   * @return a changed copy
   */
  public Tls withParameters(Consumer<SSLParameters> change) {
    return new Tls(contexts, parameters.andThen(Objects.requireNonNull(change, "change")));
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
    engine.setSSLParameters(all);
    return engine;
  }
}
