package io.fibry.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

/** Self-signed certificates for tests, made by the JDK's keytool. */
public final class Certificates {
  private static final char[] PASSWORD = "secret".toCharArray();
  private static final Map<String, KeyStore> CACHE = new ConcurrentHashMap<>();

  private Certificates() {}

  /**
   * Returns a key and its certificate for localhost. Equal arguments give the same key.
   *
   * @param name the common name of the certificate
   * @param algorithm EC, RSA, RSASSA-PSS or Ed25519
   */
  public static KeyStore of(String name, String algorithm) {
    return CACHE.computeIfAbsent(name + "." + algorithm, cacheKey -> create(name, algorithm));
  }

  private static KeyStore create(String name, String algorithm) {
    try {
      var folder = Files.createTempDirectory("certificates");
      var file = folder.resolve("keys.p12");
      var command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
          "-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-genkeypair", "-alias", "key", "-keyalg", algorithm,
          "-dname", "CN=" + name, "-ext", "san=dns:localhost,ip:127.0.0.1", "-keystore", file.toString(), "-storetype",
          "PKCS12", "-storepass", new String(PASSWORD), "-validity", "3650"));
      if (algorithm.startsWith("RSA")) command.addAll(List.of("-keysize", "2048")); // a longer key would take seconds
      try (var keytool = Child.start(command)) {
        keytool.awaitExit(0);
      }
      var keys = KeyStore.getInstance(file.toFile(), PASSWORD);
      Files.delete(file);
      Files.delete(folder);
      return keys;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } catch (GeneralSecurityException failure) {
      throw new IllegalStateException(failure);
    }
  }

  /** Returns a context that has the key of {@code own} and trusts {@code trusted}. */
  public static SSLContext context(KeyStore own, KeyStore trusted) {
    try {
      var keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(own, PASSWORD);
      return context(keys.getKeyManagers(), trusted);
    } catch (GeneralSecurityException failure) {
      throw new IllegalStateException(failure);
    }
  }

  /** Returns a context for clients without a certificate, which trust several servers. */
  public static SSLContext contextTrusting(KeyStore... servers) {
    return context((KeyManager[]) null, servers);
  }

  private static SSLContext context(KeyManager[] keys, KeyStore... trusted) {
    try {
      var authorities = KeyStore.getInstance("PKCS12");
      authorities.load(null, PASSWORD);
      for (int i = 0; i < trusted.length; i++)
        authorities.setCertificateEntry("authority" + i, trusted[i].getCertificate("key"));
      var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(authorities);
      var context = SSLContext.getInstance("TLS");
      context.init(keys, trust.getTrustManagers(), null);
      return context;
    } catch (GeneralSecurityException | IOException failure) {
      throw new IllegalStateException(failure);
    }
  }

  /** Returns a context for a server and for clients that trust this server. */
  public static SSLContext context() {
    var server = of("server", "EC");
    return context(server, server);
  }

  public static void write(KeyStore keys, Path certificate, Path key) {
    try {
      Files.writeString(certificate, pem("CERTIFICATE", keys.getCertificate("key").getEncoded()));
      Files.writeString(key, pem("PRIVATE KEY", keys.getKey("key", PASSWORD).getEncoded()));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } catch (GeneralSecurityException failure) {
      throw new IllegalStateException(failure);
    }
  }

  private static String pem(String type, byte[] bytes) {
    return "-----BEGIN " + type + "-----\n" + Base64.getMimeEncoder().encodeToString(bytes) + "\n-----END " + type
        + "-----\n";
  }

  /** Connects to a port of localhost with the TLS of the JDK. */
  public static SSLSocket connect(SSLContext context, int port, String... protocols) throws IOException {
    var socket = (SSLSocket) context.getSocketFactory().createSocket("localhost", port);
    socket.setSoTimeout((int) Patience.LONG.toMillis());
    var parameters = new SSLParameters();
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    if (protocols.length > 0) parameters.setProtocols(protocols);
    socket.setSSLParameters(parameters);
    return socket;
  }
}
