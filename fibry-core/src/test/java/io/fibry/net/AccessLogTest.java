package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.security.Principal;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Stream;
import javax.net.ServerSocketFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests which values of a request reach the access log, even if the server refuses the request. */
class AccessLogTest {
  private static final String HOST = " HTTP/1.1\r\nHost: a\r\n";
  private static final String AGENT = "User-Agent: probe\r\n\r\n";

  private final ServerScope net = new ServerScope();
  private final LinkedBlockingQueue<AccessLogEntry> log = new LinkedBlockingQueue<>();
  private HttpServer server;

  @BeforeEach
  void open() {
    var routes = HttpRoutes.none().text("/{any...}", exchange -> "x").intercept((exchange, next) -> {
      exchange.header("X-User").ifPresent(name -> exchange.attribute(Principal.class, () -> name));
      next.run();
    });
    server = HttpServer.open(net.scope.anonymous(), 0, routes,
        o -> o.withHosts("a").withMaxBody(10).withMaxHeaders(256).withMaxUri(100).withAccessLog(log::add));
  }

  @AfterEach
  void close() {
    net.close();
  }

  private AccessLogEntry entryOf(String request) throws IOException {
    RawClient.sendAndReadAll(server.port(), request);
    return Patience.nextOf(log);
  }

  static Stream<Arguments> refusedRequests() {
    return Stream.of(
        Arguments.of("POST /b%20c?t=1" + HOST + "Content-Length: 11\r\n" + AGENT, "413 POST|/b c|t=1|HTTP/1.1|probe"),
        Arguments.of("GET /b?t=1 HTTP/1.1\r\nHost: evil\r\n" + AGENT, "421 GET|/b|t=1|HTTP/1.1|probe"),
        Arguments.of("OPTIONS * HTTP/1.1\r\nHost: evil\r\n\r\n", "421 OPTIONS|*||HTTP/1.1|"),
        Arguments.of("GET /b" + HOST + "X: " + "x".repeat(256) + "\r\n" + AGENT, "431 GET|/b||HTTP/1.1|"),
        Arguments.of("GET /b" + HOST + "Expect: more\r\n" + AGENT, "417 GET|/b||HTTP/1.1|probe"),
        Arguments.of("GET /b" + HOST + "two words: x\r\n" + AGENT, "400 GET|/b||HTTP/1.1|"),
        Arguments.of("GET http://b/c?t" + HOST + AGENT, "400 GET|/c|t|HTTP/1.1|probe"),
        Arguments.of("GET /b HTTP/9.9\r\n" + AGENT, "505 GET|/b||HTTP/9.9|probe"),
        Arguments.of("BREW /b" + HOST + AGENT, "501 BREW|/b||HTTP/1.1|probe"),
        Arguments.of("TRACE /b" + HOST + AGENT, "405 TRACE|/b||HTTP/1.1|probe"),
        Arguments.of("GET /%zz" + HOST + AGENT, "400 GET|||HTTP/1.1|probe"),
        Arguments.of("GET b" + HOST + AGENT, "400 GET|||HTTP/1.1|probe"),
        Arguments.of("GET /" + "b".repeat(100) + HOST + AGENT, "414 GET||||"),
        Arguments.of("GET /b HTTP\r\n" + AGENT, "400 GET|/b|||"),
        Arguments.of("GET  HTTP/1.1\r\n" + AGENT, "400 GET||||"),
        Arguments.of(" /b HTTP/1.1\r\n" + AGENT, "400 |/b|||"),
        Arguments.of("B\"REW /b" + HOST + AGENT, "400 ||||"),
        Arguments.of("B".repeat(33) + " /b" + HOST + AGENT, "501 ||||"));
  }

  @Promise("27.35")
  @ParameterizedTest
  @MethodSource("refusedRequests")
  void refusedRequestIsLoggedWithPartsReadBeforeRefusal(String request, String expected) throws IOException {
    var entry = entryOf(request);

    assertEquals(expected, entry.status() + " " + entry.method() + "|" + entry.path() + "|" + entry.query().orElse("")
        + "|" + entry.protocol() + "|" + entry.userAgent().orElse(""));
  }

  /** Makes sockets to which nothing can be written, as if each client had disconnected. */
  private static final class DisconnectedClients extends ServerSocketFactory {
    @Override
    public ServerSocket createServerSocket(int port, int backlog, InetAddress address) throws IOException {
      return new ServerSocket(port, backlog, address) {
        @Override
        public Socket accept() throws IOException {
          var socket = new Socket() {
            @Override
            public OutputStream getOutputStream() {
              return new OutputStream() {
                @Override
                public void write(int oneByte) throws IOException {
                  throw new SocketException("Broken pipe");
                }
              };
            }
          };
          implAccept(socket);
          return socket;
        }
      };
    }

    @Override
    public ServerSocket createServerSocket(int port) {
      throw new UnsupportedOperationException();
    }

    @Override
    public ServerSocket createServerSocket(int port, int backlog) {
      throw new UnsupportedOperationException();
    }
  }

  @Promise("27.35")
  @ParameterizedTest
  @CsvSource({"GET /b HTTP/9.9, 505", "GET /b HTTP/1.1, 200"})
  void requestWhoseResponseCannotBeWrittenIsLogged(String line, int status) throws IOException {
    server = HttpServer.open(net.scope.anonymous(), 0, HttpRoutes.none().text("/{any...}", exchange -> "x"),
        o -> o.withServerSockets(new DisconnectedClients()).withAccessLog(log::add));
    try (var client = new RawClient(server.port())) {
      client.send(line + "\r\nHost: a\r\n\r\n");

      var entry = Patience.nextOf(log);
      assertEquals(status + " GET /b", entry.status() + " " + entry.method() + " " + entry.path());
    }
  }

  @Promise("27.35")
  @Test
  void handledRequestIsLoggedWithUserAndHeaders() throws IOException {
    var entry = entryOf("GET /b?token=1&x=%20" + HOST + "X-User: Ada\r\nReferer: http://c/d?e\r\n"
        + "Connection: close\r\n" + AGENT);

    assertEquals(List.of("200", "GET", "/b", "HTTP/1.1", "/{any...}"),
        List.of("" + entry.status(), entry.method(), entry.path(), entry.protocol(), entry.route().orElseThrow()));
    assertEquals(List.of(Optional.of("Ada"), Optional.of("token=1&x=%20"), Optional.of("http://c/d?e"),
        Optional.of("probe")), List.of(entry.user(), entry.query(), entry.referrer(), entry.userAgent()));
  }

  @Promise("27.35")
  @Test
  void logEntryHasEmptyOptionalsForValuesThatRequestLacks() throws IOException {
    var entry = entryOf("GET /?" + HOST + "Connection: close\r\n\r\n");

    assertEquals(List.of(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty()),
        List.of(entry.user(), entry.query(), entry.referrer(), entry.userAgent()));
  }
}
