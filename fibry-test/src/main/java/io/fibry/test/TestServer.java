package io.fibry.test;

import io.fibry.net.HttpOptions;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;

/**
 * An HTTP server and its client within one test. They need no port, and all limits of the server
 * follow the test's clock. Thread-safe.
 * {@snippet class="io.fibry.test.SnippetsTest" region="server"}
 *
 * <p>Each request has a connection of its own. For WebSockets, and for event streams that do not
 * end, open an {@link HttpServer} with a port. While such a connection waits for its client, the
 * scope is quiet, so {@link TestScope#advance} can move the clock.
 */
public final class TestServer implements AutoCloseable {
  private final TestScope scope;
  final MemorySockets sockets = new MemorySockets();
  private final HttpServer server;

  private TestServer(TestScope scope, HttpRoutes routes, UnaryOperator<HttpOptions> options) {
    this.scope = scope;
    this.server = HttpServer.open(scope.anonymous(), 0, routes,
        defaults -> options.apply(defaults).withServerSockets(sockets));
  }

  /**
   * Opens a server with the default options.
   *
   * @param scope owns the server
   * @param routes the routes under test
   * @return the server
   */
  public static TestServer open(TestScope scope, HttpRoutes routes) {
    return open(scope, routes, defaults -> defaults);
  }

  /**
   * Opens a server.
   *
   * @param scope owns the server
   * @param routes the routes under test
   * @param options changes the default options of an {@link HttpServer}
   * @return the server
   */
  public static TestServer open(TestScope scope, HttpRoutes routes, UnaryOperator<HttpOptions> options) {
    return new TestServer(scope, routes, options);
  }

  /** {@return the server, for example for its statistics} */
  public HttpServer server() {
    return server;
  }

  /**
   * Sends a GET request, and waits for the response.
   *
   * @param path the path with its query, as in {@code /orders?page=2}
   * @return the response
   * @throws AssertionError if there is no response
   */
  public TestResponse get(String path) {
    return send(TestRequest.of("GET " + path));
  }

  /**
   * Sends a request, and waits for the response, at most 5 s of real time by default.
   *
   * @param request the request
   * @return the response
   * @throws AssertionError if there is no response
   */
  public TestResponse send(TestRequest request) {
    var response = sendLater(request);
    try {
      return response.get(scope.limit.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException failure) {
      throw new AssertionError(request + " got no response: " + failure.getCause().getMessage(), failure.getCause());
    } catch (TimeoutException late) {
      throw new AssertionError(request + " has no response after " + TestScope.format(scope.limit)
          + "; if its handler waits for the test's clock, call sendLater(..) and then scope.advance(..):\n"
          + scope.dump());
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while " + request + " waited for its response");
    }
  }

  /**
   * Sends a request, and returns when the server has begun to read it. So {@code scope.advance(..)}
   * then waits until the handler has responded, or waits for the clock itself. When it returns, a
   * response that was sent is done. Code chained to the response runs on the server's thread.
   *
   * @param request the request
   * @return the response; fails with an {@link IOException} if the server closes the connection
   * without a complete response
   * @throws AssertionError if the server does not accept the connection
   */
  public CompletableFuture<TestResponse> sendLater(TestRequest request) {
    var connection = sockets.connect();
    var response = new CompletableFuture<TestResponse>();
    try {
      connection.socket().getOutputStream().write(request.toBytes());
      if (!connection.toServer().awaitFirstRead(scope.limit)) throw new AssertionError(server + " has not accepted "
          + request + " within " + TestScope.format(scope.limit) + ":\n" + scope.dump());
    } catch (IOException failure) {
      response.completeExceptionally(failure);
      return response;
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while the server accepted " + request);
    }
    connection.toClient().onEnd(() -> {
      try (var socket = connection.socket()) {
        var parsed = ResponseParser.parse(request.method, socket.getInputStream().readAllBytes());
        response.complete(new TestResponse(parsed.status, parsed.headers, parsed.body));
      } catch (Throwable failure) {
        response.completeExceptionally(failure);
      }
    });
    return response;
  }

  /** Closes the server like any other. */
  @Override
  public void close() {
    server.close();
  }

  /**
   * A request. Immutable.
   *
   * @param method such as GET
   * @param path the path with its query, percent-encoded where necessary
   * @param headers lines such as {@code Accept: text/plain}
   * @param body the bytes of the body, which are not copied
   */
  public record TestRequest(String method, String path, List<String> headers, byte[] body) {

    /**
     * Makes a request without headers and body.
     *
     * @param methodAndPath such as {@code POST /orders}
     * @return the request
     */
    public static TestRequest of(String methodAndPath) {
      int space = methodAndPath.indexOf(' ');
      if (space < 1 || !methodAndPath.startsWith("/", space + 1)) throw new IllegalArgumentException(
          "'" + methodAndPath + "' is no method and path; give for example 'GET /orders'");
      return new TestRequest(methodAndPath.substring(0, space), methodAndPath.substring(space + 1), List.of(),
          new byte[0]);
    }

    /**
     * Adds a header.
     *
     * @param name the name of the header
     * @param value one line
     * @return a changed copy
     */
    public TestRequest header(String name, String value) {
      var changed = new ArrayList<>(headers);
      changed.add(Objects.requireNonNull(name, "name") + ": " + Objects.requireNonNull(value, "value"));
      return new TestRequest(method, path, List.copyOf(changed), body);
    }

    /**
     * Sets the body.
     *
     * @param text is sent as UTF-8
     * @return a changed copy
     */
    public TestRequest body(String text) {
      return body(text.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Sets the body.
     *
     * @param bytes the body
     * @return a changed copy
     */
    public TestRequest body(byte[] bytes) {
      return new TestRequest(method, path, headers, bytes.clone());
    }

    private byte[] toBytes() {
      var head = new StringBuilder(method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
      for (var header : headers) head.append(header).append("\r\n");
      if (body.length > 0) head.append("Content-Length: ").append(body.length).append("\r\n");
      var headBytes = head.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1);
      var bytes = Arrays.copyOf(headBytes, headBytes.length + body.length);
      System.arraycopy(body, 0, bytes, headBytes.length, body.length);
      return bytes;
    }

    @Override
    public String toString() {
      return method + " " + path;
    }
  }

  /**
   * A response.
   *
   * @param status such as 200
   * @param headers by name in lower case, with their values in order
   * @param body the bytes of the body
   */
  public record TestResponse(int status, Map<String, List<String>> headers, byte[] body) {

    /** {@return the body as text in UTF-8} */
    public String text() {
      return new String(body, StandardCharsets.UTF_8);
    }

    /**
     * {@return the first value of a header, if the response has it}
     *
     * @param name in upper or lower case
     */
    public Optional<String> header(String name) {
      return headers.getOrDefault(name.toLowerCase(Locale.ROOT), List.of()).stream().findFirst();
    }

    @Override
    public String toString() {
      return status + " " + text();
    }
  }
}
