package io.fibry.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/** Makes the TLS contexts for load on this machine, with a self-signed certificate. */
final class SelfSignedTls {
  private static final char[] PASSWORD = "secret".toCharArray();

  /** Trusts every certificate, which is enough for load on this machine. */
  private static final TrustManager TRUST_ALL = new X509TrustManager() {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  };

  private SelfSignedTls() {}

  /** Makes the context of a server. */
  static SSLContext serverContext() throws IOException {
    try {
      var keyStore = Files.createTempDirectory("certificate").resolve("keys.p12");
      var keytool = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
          "-genkeypair", "-alias", "key", "-keyalg", "EC", "-dname", "CN=localhost", "-keystore", keyStore.toString(),
          "-storepass", new String(PASSWORD)).redirectErrorStream(true).start();
      String output = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (keytool.waitFor() != 0) throw new IOException(output);
      var keyFactory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keyFactory.init(KeyStore.getInstance(keyStore.toFile(), PASSWORD), PASSWORD);
      return context(keyFactory, null);
    } catch (GeneralSecurityException | InterruptedException failure) {
      throw new IOException(failure);
    }
  }

  /** Makes the context of clients, which trust every server. */
  static SSLContext clientContext() throws IOException {
    try {
      return context(null, new TrustManager[] {TRUST_ALL});
    } catch (GeneralSecurityException failure) {
      throw new IOException(failure);
    }
  }

  private static SSLContext context(KeyManagerFactory keyFactory, TrustManager[] trustManagers)
      throws GeneralSecurityException {
    var context = SSLContext.getInstance("TLS");
    context.init(keyFactory == null ? null : keyFactory.getKeyManagers(), trustManagers, null);
    return context;
  }
}
