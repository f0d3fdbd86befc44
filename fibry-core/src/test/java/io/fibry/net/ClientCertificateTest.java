package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.support.Certificates;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.security.KeyStore;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.security.auth.x500.X500Principal;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that a route knows its client by the certificate that TLS has verified. */
class ClientCertificateTest {
  private final ServerScope net = new ServerScope();
  private final KeyStore server = Certificates.of("server", "EC");
  private final KeyStore client = Certificates.of("client", "EC");
  private HttpServer http;

  @AfterEach
  void close() {
    net.close();
  }

  private static String subject(Optional<X500Principal> principal) {
    return principal.map(X500Principal::getName).orElse("unknown");
  }

  private void open(UnaryOperator<HttpOptions> options) {
    var inner =
        HttpRoutes.none().text("/set", exchange -> subject(exchange.attribute(X500Principal.class)))
            .intercept((exchange, next) -> {
              exchange.attribute(X500Principal.class, new X500Principal("CN=set")).attribute(String.class, "other");
              next.run();
            });
    var routes = HttpRoutes.none()
        .text("/subject", exchange -> subject(exchange.attribute(X500Principal.class)))
        .text("/other", exchange -> exchange.attribute(String.class, "text").attribute(String.class).get()
            + exchange.attribute(Integer.class).isPresent() + subject(exchange.attribute(X500Principal.class)))
        .webSocket("/socket",
            connection -> connection.textActor().sendMessage(subject(connection.attribute(X500Principal.class))))
        .mount("/", inner);
    http = HttpServer.open(net.scope.anonymous(), 0, routes, options);
  }

  /** Opens a server that requests certificates of clients, and accepts clients without one. */
  private void openForCertificates() {
    var tls = ServerTls.of(Certificates.context(server, client));
    open(o -> o.withTls(tls.withParameters(p -> p.setWantClientAuth(true))));
  }

  private HttpClient clientWith(SSLContext context, String... protocols) {
    var builder = HttpClient.newBuilder().sslContext(context);
    if (protocols.length > 0) {
      var parameters = new SSLParameters();
      parameters.setProtocols(protocols);
      builder.sslParameters(parameters);
    }
    return builder.build();
  }

  private String get(HttpClient httpClient, String url) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(url.replace("PORT", "" + http.port()))).build();
    return httpClient.send(request, BodyHandlers.ofString()).body();
  }

  @Promise("27.28")
  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.3", "TLSv1.2"})
  void exchangeAttributeHasSubjectOfVerifiedCertificate(String protocol) throws Exception {
    openForCertificates();

    try (var httpClient = clientWith(Certificates.context(client, server), protocol)) {
      assertEquals("CN=client", get(httpClient, "https://localhost:PORT/subject"));
      assertEquals("CN=client", get(httpClient, "https://localhost:PORT/subject")); // on the same connection
      assertEquals("textfalseCN=client", get(httpClient, "https://localhost:PORT/other"));
    }
    try (var resumingClient = clientWith(Certificates.context(client, server), protocol)) {
      assertEquals("CN=client", get(resumingClient, "https://localhost:PORT/subject"));
    }
  }

  @Promise("27.28")
  @Test
  void clientWithoutVerifiedCertificateHasNoSubject() throws Exception {
    openForCertificates();
    try (var httpClient = clientWith(Certificates.contextTrusting(server))) {
      assertEquals("unknown", get(httpClient, "https://localhost:PORT/subject"));
    }
    open(o -> o.withTls(Certificates.context(server, client))); // requests no certificates
    try (var httpClient = clientWith(Certificates.context(client, server))) {
      assertEquals("unknown", get(httpClient, "https://localhost:PORT/subject"));
      assertEquals("textfalseunknown", get(httpClient, "https://localhost:PORT/other"));
    }
    open(o -> o); // without TLS
    try (var httpClient = HttpClient.newHttpClient()) {
      assertEquals("unknown", get(httpClient, "http://localhost:PORT/subject"));
      assertEquals("CN=set", get(httpClient, "http://localhost:PORT/set"));
    }
  }

  @Promise("27.28")
  @Test
  void principalSetByFilterReplacesSubjectOfCertificate() throws Exception {
    openForCertificates();
    try (var httpClient = clientWith(Certificates.context(client, server))) {
      assertEquals("CN=set", get(httpClient, "https://localhost:PORT/set"));
      assertEquals("CN=client", get(httpClient, "https://localhost:PORT/subject"));
    }
  }

  @Test
  void webSocketAttributeHasSubjectOfCertificate() throws Exception {
    openForCertificates();
    var text = new CompletableFuture<String>();
    try (var httpClient = clientWith(Certificates.context(client, server))) {
      httpClient.newWebSocketBuilder().buildAsync(URI.create("wss://localhost:" + http.port() + "/socket"),
          new WebSocket.Listener() {
            @Override
            public CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean isLast) {
              text.complete(data.toString());
              socket.request(1); // the next event is the close
              return null;
            }
          });

      assertEquals("CN=client", Patience.value(text));
    }
  }
}
