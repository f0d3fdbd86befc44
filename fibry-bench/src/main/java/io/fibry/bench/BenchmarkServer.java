package io.fibry.bench;

import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.fibry.net.HttpRoutes;
import io.fibry.net.TcpConnection;
import io.fibry.stereotype.Stereotypes;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Executors;

/**
 * A server for load tests, made with Fibry, with the JDK, or by hand. It prints its port. For each
 * byte of input it prints its heap in bytes, and the counts of its open descriptors and threads. It
 * ends when its input ends.
 */
public final class BenchmarkServer {
  private static final byte[] RESPONSE =
      "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nHello\n".getBytes(StandardCharsets.US_ASCII);

  private BenchmarkServer() {}

  public static void main(String[] args) throws Exception {
    System.out.println("port " + start(args[0]));
    while (System.in.read() >= 0) {
      for (int i = 0; i < 3; i++) System.gc();
      long heap = Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
      System.out.println(heap + " " + Path.of("/proc/self/fd").toFile().list().length + " " + Thread.activeCount());
    }
    System.exit(0);
  }

  private static int start(String name) throws IOException {
    return switch (name) {
      case "acceptor" -> Stereotypes.fibers().tcpAcceptorSilent(0, BenchmarkServer::respondUnchecked, null).port();
      case "acceptor-threads" -> Stereotypes.threads().tcpAcceptorSilent(0, BenchmarkServer::respondUnchecked, null)
          .port();
      case "acceptor-keep" -> Stereotypes.fibers().tcpAcceptorSilent(0, BenchmarkServer::respondToAll, null).port();
      case "loop" -> acceptLoop(socket -> respondOnce(socket.getInputStream(), socket.getOutputStream()));
      case "loop-buffered" -> acceptLoop(
          socket -> respondOnce(new BufferedInputStream(socket.getInputStream()), socket.getOutputStream()));
      case "loop-keep" -> acceptLoop(
          socket -> respondToAll(new BufferedInputStream(socket.getInputStream()), socket.getOutputStream()));
      case "http" -> Stereotypes.fibers().embeddedHttpServer(0, exchange -> "Hello\n").port();
      case "https" -> https();
      case "jdk-http" -> startJdkServer(HttpServer.create());
      case "jdk-https" -> jdkHttps();
      case "http-abused" -> httpForHostileClients();
      default -> throw new IllegalArgumentException("no server '" + name + "'; see BenchmarkServer");
    };
  }

  /**
   * Responds after the first blank line. It does not check for the end of the stream, so a client
   * must send a whole head.
   */
  private static void respondUnchecked(TcpConnection connection) throws IOException {
    var in = connection.inputStream();
    for (int lineLength = 0, b = in.read(); b != '\n' || lineLength > 0; b = in.read()) {
      if (b == '\n') lineLength = 0;
      else if (b != '\r') lineLength++;
    }
    connection.outputStream().write(RESPONSE);
  }

  private static void respondToAll(TcpConnection connection) throws IOException {
    respondToAll(connection.inputStream(), connection.outputStream());
  }

  private static void respondOnce(InputStream in, OutputStream out) throws IOException {
    if (readHead(in)) out.write(RESPONSE);
  }

  private static void respondToAll(InputStream in, OutputStream out) throws IOException {
    while (readHead(in)) out.write(RESPONSE);
  }

  /** Reads the head of a request, up to its blank line. Returns false if the stream ends before. */
  private static boolean readHead(InputStream in) throws IOException {
    int lineLength = 0;
    for (int b = in.read(); b >= 0; b = in.read()) {
      if (b == '\n') {
        if (lineLength == 0) return true;
        lineLength = 0;
      } else if (b != '\r') lineLength++;
    }
    return false;
  }

  private interface Conversation {
    void handle(Socket socket) throws IOException;
  }

  /** Starts a hand-written server with a virtual thread for each connection. Returns its port. */
  private static int acceptLoop(Conversation conversation) throws IOException {
    var server = new ServerSocket(0, 128, InetAddress.getLoopbackAddress());
    Thread.startVirtualThread(() -> {
      while (true) {
        try {
          var socket = server.accept();
          socket.setTcpNoDelay(true);
          Thread.startVirtualThread(() -> {
            try (socket) {
              conversation.handle(socket);
            } catch (IOException failure) {
              // the client closed the connection
            }
          });
        } catch (IOException failure) {
          throw new AssertionError(failure);
        }
      }
    });
    return server.getLocalPort();
  }

  private static int httpForHostileClients() {
    String big = "0123456789".repeat(100_000);
    var routes = HttpRoutes.none().text("/", exchange -> "Hello\n").text("/big", exchange -> big).text("/upload",
        exchange -> "took " + exchange.bodyAsText().length());
    return Stereotypes.fibers()
        .embeddedHttpServer(0, routes,
            o -> o.withHeaderLimit(Duration.ofSeconds(3)).withBodyLimit(Duration.ofSeconds(4))
                .withWriteLimit(Duration.ofSeconds(4)).withIdleLimit(Duration.ofSeconds(3)))
        .port();
  }

  private static int https() throws IOException {
    var tls = SelfSignedTls.serverContext();
    return Stereotypes.fibers()
        .embeddedHttpServer(0, HttpRoutes.none().text("/", exchange -> "Hello\n"), o -> o.withTls(tls)).port();
  }

  private static int jdkHttps() throws IOException {
    var server = HttpsServer.create();
    server.setHttpsConfigurator(new HttpsConfigurator(SelfSignedTls.serverContext()));
    return startJdkServer(server);
  }

  private static int startJdkServer(HttpServer server) throws IOException {
    server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 128);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", exchange -> {
      try (exchange) {
        byte[] body = "Hello\n".getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "text/plain; charset=utf-8");
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
      }
    });
    server.start();
    return server.getAddress().getPort();
  }
}
