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
 * A server under load, ours or written by hand. Prints its port, lives until its input ends, and
 * prints its heap, descriptors and threads for each line of input.
 */
public final class BenchmarkServer {
  private static final byte[] ANSWER =
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

  private static int start(String which) throws IOException {
    return switch (which) {
      case "acceptor" -> Stereotypes.fibers().tcpAcceptorSilent(0, BenchmarkServer::seeds, null).port();
      case "acceptor-threads" -> Stereotypes.threads().tcpAcceptorSilent(0, BenchmarkServer::seeds, null).port();
      case "acceptor-keep" -> Stereotypes.fibers().tcpAcceptorSilent(0, BenchmarkServer::keep, null).port();
      case "loop" -> loop(socket -> once(socket.getInputStream(), socket.getOutputStream()));
      case "loop-buffered" -> loop(
          socket -> once(new BufferedInputStream(socket.getInputStream()), socket.getOutputStream()));
      case "loop-keep" -> loop(
          socket -> keep(new BufferedInputStream(socket.getInputStream()), socket.getOutputStream()));
      case "http" -> Stereotypes.fibers().embeddedHttpServer(0, exchange -> "Hello\n").port();
      case "https" -> https();
      case "jdk-http" -> jdk(HttpServer.create());
      case "jdk-https" -> jdkHttps();
      case "http-abused" -> abused();
      default -> throw new IllegalArgumentException("no server '" + which + "'; see BenchmarkServer");
    };
  }

  /** Does not check for the end of the stream, as the program in the article does not. */
  private static void seeds(TcpConnection connection) throws IOException {
    var in = connection.inputStream();
    for (int line = 0, b = in.read(); b != '\n' || line > 0; b = in.read()) {
      if (b == '\n') line = 0;
      else if (b != '\r') line++;
    }
    connection.outputStream().write(ANSWER);
  }

  private static void keep(TcpConnection connection) throws IOException {
    keep(connection.inputStream(), connection.outputStream());
  }

  private static void once(InputStream in, OutputStream out) throws IOException {
    if (head(in)) out.write(ANSWER);
  }

  private static void keep(InputStream in, OutputStream out) throws IOException {
    while (head(in)) out.write(ANSWER);
  }

  /** Reads up to a blank line; false if the stream ends before. */
  private static boolean head(InputStream in) throws IOException {
    int line = 0;
    for (int b = in.read(); b >= 0; b = in.read()) {
      if (b == '\n') {
        if (line == 0) return true;
        line = 0;
      } else if (b != '\r') line++;
    }
    return false;
  }

  private interface Conversation {
    void with(Socket socket) throws IOException;
  }

  /** A virtual thread per connection, and nothing else. */
  private static int loop(Conversation conversation) throws IOException {
    var server = new ServerSocket(0, 128, InetAddress.getLoopbackAddress());
    Thread.startVirtualThread(() -> {
      while (true) {
        try {
          var socket = server.accept();
          socket.setTcpNoDelay(true);
          Thread.startVirtualThread(() -> {
            try (socket) {
              conversation.with(socket);
            } catch (IOException gone) {
              // the client left
            }
          });
        } catch (IOException failed) {
          throw new AssertionError(failed);
        }
      }
    });
    return server.getLocalPort();
  }

  private static int abused() {
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
    var tls = OwnCertificate.server();
    return Stereotypes.fibers()
        .embeddedHttpServer(0, HttpRoutes.none().text("/", exchange -> "Hello\n"), o -> o.withTls(tls)).port();
  }

  private static int jdkHttps() throws IOException {
    var server = HttpsServer.create();
    server.setHttpsConfigurator(new HttpsConfigurator(OwnCertificate.server()));
    return jdk(server);
  }

  private static int jdk(HttpServer server) throws IOException {
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
