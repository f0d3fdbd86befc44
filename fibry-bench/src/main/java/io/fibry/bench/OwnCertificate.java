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

/** TLS on this machine, with a certificate that nobody has signed. */
final class OwnCertificate {
  private static final char[] PASSWORD = "secret".toCharArray();

  /** For load on this machine. */
  private static final TrustManager ANYBODY = new X509TrustManager() {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  };

  private OwnCertificate() {}

  /** Makes the context of a server. */
  static SSLContext server() throws IOException {
    try {
      var file = Files.createTempDirectory("certificate").resolve("keys.p12");
      var keytool = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
          "-genkeypair", "-alias", "key", "-keyalg", "EC", "-dname", "CN=localhost", "-keystore", file.toString(),
          "-storepass", new String(PASSWORD)).redirectErrorStream(true).start();
      String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (keytool.waitFor() != 0) throw new IOException(said);
      var keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(KeyStore.getInstance(file.toFile(), PASSWORD), PASSWORD);
      return context(keys, null);
    } catch (GeneralSecurityException | InterruptedException failure) {
      throw new IOException(failure);
    }
  }

  /** Makes the context of clients, which trust every server. */
  static SSLContext client() throws IOException {
    try {
      return context(null, new TrustManager[] {ANYBODY});
    } catch (GeneralSecurityException failure) {
      throw new IOException(failure);
    }
  }

  private static SSLContext context(KeyManagerFactory keys, TrustManager[] trust) throws GeneralSecurityException {
    var context = SSLContext.getInstance("TLS");
    context.init(keys == null ? null : keys.getKeyManagers(), trust, null);
    return context;
  }
}
