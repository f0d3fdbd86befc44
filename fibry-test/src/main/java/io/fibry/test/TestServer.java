package io.fibry.test;

import io.fibry.net.HttpOptions;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.test.MemorySockets.MemoryConnection;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;

/**
 * An HTTP server and its client within one test. They need no port, and all limits of the server
 * follow the test's clock. Thread-safe.
 * {@snippet class="io.fibry.test.SnippetsTest" region="server"}
 *
 * <p>Each request and each WebSocket has a connection of its own. For event streams that do not
 * end, open an {@link HttpServer} with a port. While such a connection waits for its client, the
 * scope is quiet, so {@link TestScope#advance} can move the clock.
 */
public final class TestServer implements AutoCloseable {
  private final TestScope scope;
  final MemorySockets sockets = new MemorySockets();
  private final HttpServer server;
  private final Set<TestWebSocket> pausedSockets = ConcurrentHashMap.newKeySet();

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
    return await(sendLater(request), request, "call sendLater(..) and then scope.advance(..)");
  }

  private TestResponse await(CompletableFuture<TestResponse> response, TestRequest request, String advice) {
    try {
      return response.get(scope.limit.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException failure) {
      throw new AssertionError(request + " got no response: " + failure.getCause().getMessage(), failure.getCause());
    } catch (TimeoutException late) {
      throw new AssertionError(request + " has no response after " + TestScope.format(scope.limit)
          + "; if its handler waits for the test's clock, " + advice + ":\n" + scope.dump());
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
    if (!begin(connection, request, request.toBytes("Connection: close"), response)) return response;
    connection.toClient().onEnd(() -> {
      try (var socket = connection.socket()) {
        response.complete(TestResponse.parse(request.method, socket.getInputStream().readAllBytes()));
      } catch (Throwable failure) {
        response.completeExceptionally(failure);
      }
    });
    return response;
  }

  /**
   * Sends a request, and waits until the server has begun to read it. If the server closes the
   * connection before, completes the response with the failure, and returns false.
   */
  private boolean begin(MemoryConnection connection, TestRequest request, byte[] bytes,
      CompletableFuture<TestResponse> response) {
    try {
      connection.socket().getOutputStream().write(bytes);
      if (!connection.toServer().awaitFirstRead(scope.limit)) throw new AssertionError(server + " has not accepted "
          + request + " within " + TestScope.format(scope.limit) + ":\n" + scope.dump());
      return true;
    } catch (IOException failure) {
      return !response.completeExceptionally(failure);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while the server accepted " + request);
    }
  }

  // ---- WebSockets

  /**
   * Opens a WebSocket, and waits until the server has accepted it.
   *
   * @param path the path with its query, as in {@code /chat/ann}
   * @return the client's side of the WebSocket
   * @throws AssertionError if the server refuses the WebSocket; the text has the response
   */
  public TestWebSocket webSocket(String path) {
    return webSocket(TestRequest.of("GET " + path));
  }

  /**
   * Opens a WebSocket, and waits until the server has accepted it.
   *
   * @param request a GET request, for example with the header {@code Origin} or
   * {@code Sec-WebSocket-Protocol}. Headers of the upgrade that it lacks are added
   * @return the client's side of the WebSocket
   * @throws AssertionError if the server refuses the WebSocket; the text has the response
   */
  public TestWebSocket webSocket(TestRequest request) {
    var socket = connect(request);
    if (socket.response().status() == TestWebSocket.ACCEPTED) return socket;
    throw new AssertionError(request + " did not open a WebSocket; the response: " + socket.response());
  }

  /**
   * Asks for a WebSocket that the server must refuse, and waits for the response.
   *
   * @param path the path with its query, as in {@code /chat/ann}
   * @return the response, for example with the status 401
   * @throws AssertionError if the server accepts the WebSocket
   */
  public TestResponse webSocketRefusal(String path) {
    return webSocketRefusal(TestRequest.of("GET " + path));
  }

  /**
   * Asks for a WebSocket that the server must refuse, and waits for the response.
   *
   * @param request as for {@link #webSocket(TestRequest)}
   * @return the response, for example with the status 401
   * @throws AssertionError if the server accepts the WebSocket
   */
  public TestResponse webSocketRefusal(TestRequest request) {
    var socket = connect(request);
    if (socket.response().status() != TestWebSocket.ACCEPTED) return socket.response();
    socket.disconnect();
    throw new AssertionError(request + " opened a WebSocket, but the test expects a refusal");
  }

  private TestWebSocket connect(TestRequest request) {
    var connection = sockets.connect();
    var socket = new TestWebSocket(scope, request, connection, pausedSockets);
    begin(connection, request, request.toBytes(TestWebSocket.UPGRADE), socket.response);
    await(socket.response, request, "move the clock on another thread");
    return socket;
  }

  /**
   * Closes the server like any other. WebSockets whose reading is paused read again before, because
   * the server would wait for them until the test moves the clock.
   */
  @Override
  public void close() {
    pausedSockets.forEach(TestWebSocket::resumeReading);
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

    /** Returns the bytes of the request, with the default headers that it lacks. */
    private byte[] toBytes(String... defaultHeaders) {
      var head = new StringBuilder(method + " " + path + " HTTP/1.1\r\n");
      if (!hasHeader("Host")) head.append("Host: localhost\r\n");
      for (var header : defaultHeaders)
        if (!hasHeader(header.substring(0, header.indexOf(':')))) head.append(header).append("\r\n");
      for (var header : headers) head.append(header).append("\r\n");
      if (body.length > 0) head.append("Content-Length: ").append(body.length).append("\r\n");
      var headBytes = head.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1);
      var bytes = Arrays.copyOf(headBytes, headBytes.length + body.length);
      System.arraycopy(body, 0, bytes, headBytes.length, body.length);
      return bytes;
    }

    private boolean hasHeader(String name) {
      return headers.stream().anyMatch(header -> header.regionMatches(true, 0, name + ":", 0, name.length() + 1));
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

    /** Returns the response to a request with this method. */
    static TestResponse parse(String method, byte[] bytes) throws IOException {
      var parsed = ResponseParser.parse(method, bytes);
      return new TestResponse(parsed.status, parsed.headers, parsed.body);
    }

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
