package io.fibry.net;

import io.fibry.text.Lines;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A context made from two files, and made again when they have changed. Thread-safe. */
final class PemFiles implements Supplier<SSLContext> {
  private static final Logger LOG = LoggerFactory.getLogger(PemFiles.class);
  private static final long PERIOD = 1_000_000_000; // nanoseconds between two looks
  private static final Pattern KEY = Pattern.compile("-----BEGIN PRIVATE KEY-----([^-]+)-----END PRIVATE KEY-----");
  private static final char[] NO_PASSWORD = {};
  private static final byte[] NO_TEXT = {0};
  private static final List<FileTime> MISSING = List.of();

  private final Path certificates;
  private final Path key;
  private final Optional<Path> authorities; // of clients
  private final LongSupplier clock; // nanoseconds
  private volatile SSLContext context;
  // under the monitor
  private List<FileTime> seen; // times of the files that the context is from
  private List<FileTime> refused; // times of files that were logged as unusable, or null if there were none since
  private volatile long next; // look; also read without the monitor, which is good enough

  PemFiles(Path certificates, Path key, Optional<Path> authorities) {
    this(certificates, key, authorities, System::nanoTime);
  }

  /** Takes another clock, for tests. */
  PemFiles(Path certificates, Path key, Optional<Path> authorities, LongSupplier clock) {
    this.certificates = certificates;
    this.key = key;
    this.authorities = authorities;
    this.clock = clock;
    try {
      this.seen = times();
      this.context = read();
    } catch (IOException unreadable) {
      throw new UncheckedIOException("a certificate cannot be read: " + Lines.thrown(unreadable), unreadable);
    }
    this.next = clock.getAsLong() + PERIOD;
  }

  @Override
  public SSLContext get() {
    if (clock.getAsLong() - next >= 0) look();
    return context;
  }

  private synchronized void look() {
    if (clock.getAsLong() - next < 0) return;
    next = clock.getAsLong() + PERIOD;
    var now = MISSING;
    try {
      now = times();
      if (now.equals(seen)) {
        if (refused != null) LOG.info("{} is again what it was", certificates);
      } else {
        context = read();
        seen = now; // noted after the look, so that files that could not be read are tried again
        LOG.info("{} was read anew", certificates);
      }
      refused = null;
    } catch (IOException | RuntimeException unreadable) {
      if (now.equals(refused)) return; // each change is logged once, not each look
      refused = now;
      LOG.warn("{} has changed and cannot be used, so the certificate stays what it was",
          certificates, unreadable);
    }
  }

  private List<FileTime> times() throws IOException {
    var times = new ArrayList<>(List.of(Files.getLastModifiedTime(certificates), Files.getLastModifiedTime(key)));
    if (authorities.isPresent()) times.add(Files.getLastModifiedTime(authorities.get()));
    return times;
  }

  private SSLContext read() throws IOException {
    try {
      var trusted = trusted();
      var chain = all(certificates);
      return contextOf(chain, privateKey(chain[0]), trusted);
    } catch (GeneralSecurityException | IllegalArgumentException unusable) {
      throw new IllegalArgumentException(
          "no certificate and its key in " + certificates + " and " + key + ": " + Lines.message(unusable)
              + "; give the certificates in PEM form, the server's first, and its key in PKCS #8 form "
              + "('openssl pkcs8 -topk8 -nocrypt' makes it)",
          unusable);
    }
  }

  private static Certificate[] all(Path file) throws IOException, GeneralSecurityException {
    var all = CertificateFactory.getInstance("X.509")
        .generateCertificates(new ByteArrayInputStream(Files.readAllBytes(file))).toArray(Certificate[]::new);
    if (all.length == 0) throw new GeneralSecurityException("there is no certificate");
    return all;
  }

  /** Returns null for the trust manager of the JDK, which is not used then. */
  private TrustManager[] trusted() throws IOException, GeneralSecurityException {
    if (authorities.isEmpty()) return null;
    var store = emptyStore();
    try {
      var all = all(authorities.get());
      for (int i = 0; i < all.length; i++) store.setCertificateEntry("authority" + i, all[i]);
    } catch (GeneralSecurityException unusable) {
      throw new IllegalArgumentException("no certificate of an authority in " + authorities.get() + ": "
          + Lines.message(unusable) + "; give them in PEM form", unusable);
    }
    var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    return trust.getTrustManagers();
  }

  private static KeyStore emptyStore() throws IOException, GeneralSecurityException {
    var store = KeyStore.getInstance("PKCS12");
    store.load(null, NO_PASSWORD);
    return store;
  }

  private PrivateKey privateKey(Certificate certificate) throws IOException, GeneralSecurityException {
    var found = KEY.matcher(Files.readString(key, StandardCharsets.ISO_8859_1));
    if (!found.find()) throw new GeneralSecurityException("there is no 'BEGIN PRIVATE KEY'");
    var bytes = Base64.getMimeDecoder().decode(found.group(1));
    String algorithm = certificate.getPublicKey().getAlgorithm();
    var read = KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(bytes));
    checkPair(read, certificate);
    return read;
  }

  /** Without this check each handshake would fail, and no text would say why. */
  private static void checkPair(PrivateKey key, Certificate certificate) throws GeneralSecurityException {
    var signing = Signature.getInstance(switch (key.getAlgorithm()) {
      case "EC" -> "SHA256withECDSA";
      case "RSA" -> "SHA256withRSA";
      default -> key.getAlgorithm(); // as EdDSA
    });
    signing.initSign(key);
    signing.update(NO_TEXT);
    var signature = signing.sign();
    signing.initVerify(certificate.getPublicKey());
    signing.update(NO_TEXT);
    if (!signing.verify(signature)) throw new GeneralSecurityException("the key is that of another certificate");
  }

  private static SSLContext contextOf(Certificate[] chain, PrivateKey key, TrustManager[] trusted)
      throws IOException, GeneralSecurityException {
    var store = emptyStore();
    store.setKeyEntry("server", key, NO_PASSWORD, chain);
    var keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(store, NO_PASSWORD);
    var context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), trusted, null);
    return context;
  }
}
