package io.fibry.bench;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Sends hostile clients to an HTTP server of ours, and measures their effect. During each attack a
 * well-behaved client must get its answers; afterwards the server must hold what it held before.
 * Needs {@code slowhttptest}.
 */
public final class HostileClients {
  private static final List<String> SLOW = List.of("-c", "1500", "-r", "500", "-l", "12", "-i", "2");
  private static boolean survived = true;

  private HostileClients() {}

  private interface Attack {
    void on(ServerProcess server) throws Exception;
  }

  public static void main(String[] args) throws Exception {
    System.out.printf("%-34s %10s %12s %12s   %s%n", "", "answered", "median ms", "p99 ms",
        "heap MB, descriptors, threads: before and after");
    try (var server = new ServerProcess("http-abused")) {
      for (int i = 0; i < 200; i++) hello(server.port()); // warm-up
      survive("no attack", server, s -> Thread.sleep(3_000));
      survive("1,500 slow heads", server, s -> slow(s, "/", "-H"));
      survive("1,500 slow bodies", server, s -> slow(s, "/upload", "-B", "-s", "100000"));
      survive("1,500 slow readers", server, s -> slow(s, "/big", "-X", "-w", "10", "-y", "20", "-n", "5", "-z", "32"));
      survive("20,000 resets in mid-request", server, HostileClients::resets);
      survive("an upload of 1 GB", server, s -> upload(s, "Content-Length: 1073741824\r\n\r\n", false));
      survive("an upload of 1 GB in chunks", server, s -> upload(s, "Transfer-Encoding: chunked\r\n\r\n", true));
      survive("a request that never ends", server, s -> upload(s, "X-Long: ", false));
    }
    try (var server = ServerProcess.withDescriptors(300, "http-abused")) {
      for (int i = 0; i < 50; i++) hello(server.port());
      survive("1,000 clients for 300 descriptors", server, HostileClients::flood);
    }
    System.out.println(survived ? "all survived" : "BROKEN, see above");
    System.exit(survived ? 0 : 1);
  }

  private static void survive(String name, ServerProcess server, Attack attack) throws Exception {
    var before = server.usage();
    var ended = new AtomicBoolean();
    var took = new ArrayList<Double>();
    int[] unanswered = {0};
    var good = Thread.ofVirtual().start(() -> {
      while (!ended.get()) {
        long began = System.nanoTime();
        try {
          hello(server.port());
          took.add((System.nanoTime() - began) / 1e6);
          Thread.sleep(10);
        } catch (IOException | InterruptedException failure) {
          unanswered[0]++;
        }
      }
    });
    attack.on(server);
    ended.set(true);
    good.join();
    var after = settled(server, before);
    took.sort(null);
    boolean well = unanswered[0] == 0 && after.descriptors() <= before.descriptors() + 3
        && after.threads() <= before.threads() + 2 && after.heap() <= before.heap() + (16 << 20);
    survived &= well;
    System.out.printf(Locale.ROOT, "%-34s %6d/%d %12.2f %12.2f   %d -> %d, %d -> %d, %d -> %d: %s%n", name, took.size(),
        took.size() + unanswered[0], took.get(took.size() / 2), took.get(took.size() * 99 / 100), before.heap() >> 20,
        after.heap() >> 20,
        before.descriptors(), after.descriptors(), before.threads(), after.threads(), well ? "survived" : "BROKEN");
  }

  /** The server's time limits must pass first. */
  private static ServerProcess.Usage settled(ServerProcess server, ServerProcess.Usage before)
      throws IOException, InterruptedException {
    var now = server.usage();
    for (int i = 0; i < 60 && now.descriptors() > before.descriptors() + 3; i++) {
      Thread.sleep(100);
      now = server.usage();
    }
    return now;
  }

  private static void hello(int port) throws IOException {
    try (var socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(10_000);
      socket.getOutputStream()
          .write("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      if (!answer.startsWith("HTTP/1.1 200 ")) throw new IOException("answered " + answer);
    }
  }

  private static void slow(ServerProcess server, String path, String... how) throws IOException, InterruptedException {
    var command = new ArrayList<>(List.of("slowhttptest", "-u", "http://127.0.0.1:" + server.port() + path, "-p", "5"));
    command.addAll(SLOW);
    command.addAll(Arrays.asList(how));
    new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start()
        .waitFor();
  }

  private static void resets(ServerProcess server) throws IOException {
    byte[] half = "POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf"
        .getBytes(StandardCharsets.US_ASCII);
    for (int i = 0; i < 20_000; i++) {
      try (var socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
        socket.setSoLinger(true, 0);
        socket.getOutputStream().write(half, 0, 1 + i % half.length);
      }
    }
  }

  /** Sends until the server closes the connection; fails if it takes all. */
  private static void upload(ServerProcess server, String head, boolean chunks) throws IOException {
    var piece = new byte[1 << 16];
    Arrays.fill(piece, (byte) 'x');
    try (var socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      var out = socket.getOutputStream();
      out.write(("POST /upload HTTP/1.1\r\nHost: localhost\r\n" + head).getBytes(StandardCharsets.US_ASCII));
      for (int i = 0; i < 1 << 14; i++) {
        if (chunks) out.write("10000\r\n".getBytes(StandardCharsets.US_ASCII));
        out.write(piece);
        if (chunks) out.write("\r\n".getBytes(StandardCharsets.US_ASCII));
      }
      throw new IllegalStateException("the server took all of it");
    } catch (IOException refused) {
      // as the server should
    }
  }

  private static void flood(ServerProcess server) throws IOException, InterruptedException {
    var clients = new ArrayList<Socket>();
    for (int i = 0; i < 1_000; i++) clients.add(new Socket(InetAddress.getLoopbackAddress(), server.port()));
    Thread.sleep(1_000);
    for (var client : clients) client.close();
  }
}
