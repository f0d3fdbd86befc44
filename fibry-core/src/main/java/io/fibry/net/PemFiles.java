package io.fibry.net;

import io.fibry.text.Lines;
import io.fibry.text.SafeLogger;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.interfaces.RSAKey;
import java.security.spec.AlgorithmParameterSpec;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.MGF1ParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.PSSParameterSpec;
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

/**
 * Supplies a TLS context that is made from PEM files, and made again when the files have changed.
 * Thread-safe.
 */
final class PemFiles implements Supplier<SSLContext> {
  private static final Logger LOG = SafeLogger.of(PemFiles.class);
  private static final long CHECK_PERIOD = 1_000_000_000; // min ns between two checks of the files
  private static final Pattern KEY = Pattern.compile("-----BEGIN PRIVATE KEY-----([^-]+)-----END PRIVATE KEY-----");
  private static final Pattern ANY_KEY = Pattern.compile("-----BEGIN ([A-Z0-9]+ )*PRIVATE KEY-----");
  private static final Pattern CERTIFICATE = Pattern.compile("-----BEGIN ([A-Z0-9]+ )*CERTIFICATE-----");
  // the form of PKCS #8, and the older form of OpenSSL
  private static final Pattern ENCRYPTED_KEY =
      Pattern.compile("-----BEGIN ENCRYPTED PRIVATE KEY-----|(?m)^Proc-Type:\\s*4\\s*,\\s*ENCRYPTED");
  private static final char[] NO_PASSWORD = {};
  private static final byte[] SIGNED_SAMPLE = {0};
  private static final PSSParameterSpec DEFAULT_PSS =
      new PSSParameterSpec("SHA-256", "MGF1", MGF1ParameterSpec.SHA256, 32, PSSParameterSpec.TRAILER_FIELD_BC);
  private static final List<PemState> MISSING = List.of();

  /**
   * The modification time and the size of a file. The size shows a second write that a coarse clock
   * gives the time of the first.
   */
  private record PemState(FileTime modified, long size) {
    static PemState of(Path file) throws IOException {
      var attributes = Files.readAttributes(file, BasicFileAttributes.class);
      return new PemState(attributes.lastModifiedTime(), attributes.size());
    }
  }

  private final Path certificates;
  private final Path key;
  // file with the certificates of authorities that sign clients' certificates; empty if none was
  // given
  private final Optional<Path> authorities;
  private final LongSupplier clock; // nanoseconds
  private volatile SSLContext context;
  // states of the files from which the context was made; guarded by the monitor, like the next
  // field
  private List<PemState> loadedStates;
  // states of the unusable files that were logged last; null after a success
  private List<PemState> refusedStates;
  // time of the clock, in ns; get() reads it without the monitor, because checkFiles() reads it
  // again under the monitor
  private volatile long nextCheck;

  PemFiles(Path certificates, Path key, Optional<Path> authorities) {
    this(certificates, key, authorities, System::nanoTime);
  }

  /** Makes a supplier with another clock, for tests. */
  PemFiles(Path certificates, Path key, Optional<Path> authorities, LongSupplier clock) {
    this.certificates = certificates;
    this.key = key;
    this.authorities = authorities;
    this.clock = clock;
    try {
      this.loadedStates = states();
      this.context = read();
    } catch (IOException unreadable) {
      throw new UncheckedIOException("a certificate cannot be read: " + Lines.thrown(unreadable), unreadable);
    }
    this.nextCheck = clock.getAsLong() + CHECK_PERIOD;
  }

  @Override
  public SSLContext get() {
    if (clock.getAsLong() - nextCheck >= 0) checkFiles();
    return context;
  }

  private synchronized void checkFiles() {
    if (clock.getAsLong() - nextCheck < 0) return;
    nextCheck = clock.getAsLong() + CHECK_PERIOD;
    var states = MISSING;
    try {
      states = states();
      if (states.equals(loadedStates)) {
        if (refusedStates != null)
          LOG.info("{} was restored to the version whose certificate is still in use", certificates);
      } else {
        context = read();
        loadedStates = states; // after the read, so that files that could not be read are tried again
        LOG.info("{} was read again", certificates);
      }
      refusedStates = null;
    } catch (IOException | RuntimeException unusable) {
      if (states.equals(refusedStates)) return; // each change is logged once
      refusedStates = states;
      LOG.warn("{} or {} has changed and cannot be used, so the old certificate stays in use: {}", certificates, key,
          Lines.thrown(unusable));
    }
  }

  private List<PemState> states() throws IOException {
    var states = new ArrayList<>(List.of(PemState.of(certificates), PemState.of(key)));
    if (authorities.isPresent()) states.add(PemState.of(authorities.get()));
    return states;
  }

  private SSLContext read() throws IOException {
    var keyText = text(key);
    refuseSwappedFiles(keyText);
    var trustManagers = trustManagers();
    if (ENCRYPTED_KEY.matcher(keyText).find() && !KEY.matcher(keyText).find()) throw encryptedKey();
    try {
      var chain = certificatesIn(certificates);
      return contextOf(chain, privateKey(keyText, chain[0]), trustManagers);
    } catch (GeneralSecurityException | IllegalArgumentException unusable) {
      throw new IllegalArgumentException(
          certificates + " and " + key + " have no certificate with its key: " + Lines.message(unusable)
              + "; give the certificates in PEM form, the server's first, and its key in PKCS #8 form "
              + "('openssl pkcs8 -topk8 -nocrypt' makes it)",
          unusable);
    }
  }

  private static String text(Path file) throws IOException {
    return Files.readString(file, StandardCharsets.ISO_8859_1);
  }

  /**
   * Throws if a file of certificates has a key, or the file of the key has only certificates. The
   * parser of the JDK takes a key for a malformed certificate.
   */
  private void refuseSwappedFiles(String keyText) throws IOException {
    var problems = new ArrayList<String>();
    if (ANY_KEY.matcher(text(certificates)).find())
      problems.add(certificates + " has a private key where certificates were expected");
    if (CERTIFICATE.matcher(keyText).find() && !ANY_KEY.matcher(keyText).find())
      problems.add(key + " has certificates where a private key was expected");
    if (authorities.isPresent() && ANY_KEY.matcher(text(authorities.get())).find())
      problems.add(authorities.get() + " has a private key where certificates of authorities were expected");
    if (problems.isEmpty()) return;
    throw new IllegalArgumentException(String.join(", and ", problems)
        + "; the files may be swapped: give first the file that has only the certificates, then the file of their key"
        + (authorities.isPresent() ? ", then the file that has only the certificates of authorities" : ""));
  }

  private IllegalArgumentException encryptedKey() {
    return new IllegalArgumentException("the private key in " + key + " is encrypted, and the server cannot ask for "
        + "its password; decrypt it by 'openssl pkcs8 -topk8 -nocrypt -in \"" + key + "\" -out decrypted.pem', give "
        + "decrypted.pem, and let only the user of the server read this file");
  }

  private static Certificate[] certificatesIn(Path file) throws IOException, GeneralSecurityException {
    var certificates = CertificateFactory.getInstance("X.509")
        .generateCertificates(new ByteArrayInputStream(Files.readAllBytes(file))).toArray(Certificate[]::new);
    if (certificates.length == 0) throw new GeneralSecurityException("there is no certificate");
    return certificates;
  }

  /**
   * Returns the trust managers for the authorities of clients. Returns null if no authorities were
   * given; {@link ServerTls} then refuses to ask clients for certificates.
   */
  private TrustManager[] trustManagers() throws IOException {
    if (authorities.isEmpty()) return null;
    try {
      var store = emptyStore();
      var certificates = certificatesIn(authorities.get());
      for (int i = 0; i < certificates.length; i++) store.setCertificateEntry("authority" + i, certificates[i]);
      var trustFactory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trustFactory.init(store);
      return trustFactory.getTrustManagers();
    } catch (GeneralSecurityException unusable) {
      throw new IllegalArgumentException("no certificate of an authority in " + authorities.get() + ": "
          + Lines.message(unusable) + "; give them in PEM form", unusable);
    }
  }

  private static KeyStore emptyStore() throws IOException, GeneralSecurityException {
    var store = KeyStore.getInstance("PKCS12");
    store.load(null, NO_PASSWORD);
    return store;
  }

  private static PrivateKey privateKey(String pem, Certificate certificate) throws GeneralSecurityException {
    var matcher = KEY.matcher(pem);
    if (!matcher.find()) throw new GeneralSecurityException("there is no 'BEGIN PRIVATE KEY' with its end");
    String algorithm = certificate.getPublicKey().getAlgorithm();
    PrivateKey privateKey;
    try {
      var bytes = Base64.getMimeDecoder().decode(matcher.group(1));
      privateKey = KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(bytes));
    } catch (InvalidKeySpecException | IllegalArgumentException malformed) {
      throw new GeneralSecurityException("the key is malformed, or has another algorithm than the certificate ("
          + algorithm + "): " + Lines.message(malformed), malformed);
    }
    checkPair(privateKey, certificate.getPublicKey());
    return privateKey;
  }

  /**
   * Checks that the key belongs to the certificate. If it did not, each handshake would fail, and
   * no text would say why.
   */
  static void checkPair(PrivateKey key, PublicKey publicKey) throws GeneralSecurityException {
    var signature = Signature.getInstance(switch (key.getAlgorithm()) {
      case "EC" -> "SHA256withECDSA";
      case "RSA" -> "SHA256withRSA";
      default -> key.getAlgorithm(); // such as EdDSA
    });
    if (key.getAlgorithm().equals("RSASSA-PSS"))
      signature.setParameter(pssParameters(key).or(() -> pssParameters(publicKey)).orElse(DEFAULT_PSS));
    signature.initSign(key);
    signature.update(SIGNED_SAMPLE);
    var signatureBytes = signature.sign();
    signature.initVerify(publicKey);
    signature.update(SIGNED_SAMPLE);
    if (!signature.verify(signatureBytes)) throw new GeneralSecurityException("the key belongs to another certificate");
  }

  /** Returns the parameters to which the key is restricted; empty if it may be used with any. */
  private static Optional<AlgorithmParameterSpec> pssParameters(Key key) {
    return key instanceof RSAKey rsaKey ? Optional.ofNullable(rsaKey.getParams()) : Optional.empty();
  }

  private static SSLContext contextOf(Certificate[] chain, PrivateKey key, TrustManager[] trustManagers)
      throws IOException, GeneralSecurityException {
    var store = emptyStore();
    store.setKeyEntry("server", key, NO_PASSWORD, chain);
    var keyManagers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keyManagers.init(store, NO_PASSWORD);
    var context = SSLContext.getInstance("TLS");
    context.init(keyManagers.getKeyManagers(), trustManagers, null);
    return context;
  }
}
