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
 * Attacks an HTTP server of Fibry with hostile clients, and measures the effect. During each attack
 * a well-behaved client must get its responses. After the attack, the server's heap, descriptors
 * and threads may have grown only slightly. Needs {@code slowhttptest}.
 */
public final class HostileClients {
  private static final List<String> SLOW_OPTIONS = List.of("-c", "1500", "-r", "500", "-l", "12", "-i", "2");
  private static boolean allSurvived = true;

  private HostileClients() {}

  private interface Attack {
    void run(ServerProcess server) throws Exception;
  }

  public static void main(String[] args) throws Exception {
    System.out.printf("%-34s %10s %12s %12s   %s%n", "", "responses", "median ms", "p99 ms",
        "heap MB, descriptors, threads: before and after");
    try (var server = new ServerProcess("http-abused")) {
      for (int i = 0; i < 200; i++) hello(server.port()); // warm-up
      measure("no attack", server, s -> Thread.sleep(3_000));
      measure("1,500 slow heads", server, s -> runSlowHttpTest(s, "/", "-H"));
      measure("1,500 slow bodies", server, s -> runSlowHttpTest(s, "/upload", "-B", "-s", "100000"));
      measure("1,500 slow readers", server,
          s -> runSlowHttpTest(s, "/big", "-X", "-w", "10", "-y", "20", "-n", "5", "-z", "32"));
      measure("20,000 resets in mid-request", server, HostileClients::resetConnections);
      measure("an upload of 1 GB", server, s -> upload(s, "Content-Length: 1073741824\r\n\r\n", false));
      measure("an upload of 1 GB in chunks", server, s -> upload(s, "Transfer-Encoding: chunked\r\n\r\n", true));
      measure("a request that never ends", server, s -> upload(s, "X-Long: ", false));
    }
    try (var server = ServerProcess.withDescriptors(300, "http-abused")) {
      for (int i = 0; i < 50; i++) hello(server.port());
      measure("1,000 clients for 300 descriptors", server, HostileClients::flood);
    }
    System.out.println(allSurvived ? "all survived" : "BROKEN, see above");
    System.exit(allSurvived ? 0 : 1);
  }

  private static void measure(String name, ServerProcess server, Attack attack) throws Exception {
    var before = server.usage();
    var attackEnded = new AtomicBoolean();
    var latencies = new ArrayList<Double>();
    int[] unanswered = {0};
    var goodClient = Thread.ofVirtual().start(() -> {
      while (!attackEnded.get()) {
        long began = System.nanoTime();
        try {
          hello(server.port());
          latencies.add((System.nanoTime() - began) / 1e6);
          Thread.sleep(10);
        } catch (IOException | InterruptedException failure) {
          unanswered[0]++;
        }
      }
    });
    attack.run(server);
    attackEnded.set(true);
    goodClient.join();
    var after = usageAfterAttack(server, before);
    latencies.sort(null);
    boolean survived = unanswered[0] == 0 && after.descriptors() <= before.descriptors() + 3
        && after.threads() <= before.threads() + 2 && after.heap() <= before.heap() + (16 << 20);
    allSurvived &= survived;
    System.out.printf(Locale.ROOT, "%-34s %6d/%d %12.2f %12.2f   %d -> %d, %d -> %d, %d -> %d: %s%n", name,
        latencies.size(), latencies.size() + unanswered[0], percentile(latencies, 50), percentile(latencies, 99),
        before.heap() >> 20, after.heap() >> 20,
        before.descriptors(), after.descriptors(), before.threads(), after.threads(), survived ? "survived" : "BROKEN");
  }

  /** Returns NaN if there was no response. */
  private static double percentile(List<Double> sorted, int percent) {
    return sorted.isEmpty() ? Double.NaN : sorted.get(sorted.size() * percent / 100);
  }

  /**
   * Returns the usage after an attack. Waits up to 6 s until the descriptors of the attack are
   * closed, because the time limits of the server must pass first.
   */
  private static ServerProcess.Usage usageAfterAttack(ServerProcess server, ServerProcess.Usage before)
      throws IOException, InterruptedException {
    var usage = server.usage();
    for (int i = 0; i < 60 && usage.descriptors() > before.descriptors() + 3; i++) {
      Thread.sleep(100);
      usage = server.usage();
    }
    return usage;
  }

  private static void hello(int port) throws IOException {
    try (var socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(10_000);
      socket.getOutputStream()
          .write("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      String response = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      if (!response.startsWith("HTTP/1.1 200 ")) throw new IOException("unexpected response: " + response);
    }
  }

  /** Runs the tool. Prints an exit code that is not 0, because the attack may then have failed. */
  private static void runSlowHttpTest(ServerProcess server, String path, String... attackOptions)
      throws IOException, InterruptedException {
    var command = new ArrayList<>(List.of("slowhttptest", "-u", "http://127.0.0.1:" + server.port() + path, "-p", "5"));
    command.addAll(SLOW_OPTIONS);
    command.addAll(Arrays.asList(attackOptions));
    int exitCode = new ProcessBuilder(command).redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor();
    if (exitCode != 0) System.out.printf("slowhttptest ended with exit code %d%n", exitCode);
  }

  private static void resetConnections(ServerProcess server) throws IOException {
    byte[] partialRequest = "POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf"
        .getBytes(StandardCharsets.US_ASCII);
    for (int i = 0; i < 20_000; i++) {
      try (var socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
        socket.setSoLinger(true, 0);
        socket.getOutputStream().write(partialRequest, 0, 1 + i % partialRequest.length);
      }
    }
  }

  /**
   * Sends a body or header of 1 GB until the server closes the connection. Throws if the server
   * accepts all of it.
   */
  private static void upload(ServerProcess server, String head, boolean isChunked) throws IOException {
    var chunk = new byte[1 << 16];
    Arrays.fill(chunk, (byte) 'x');
    try (var socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      var out = socket.getOutputStream();
      out.write(("POST /upload HTTP/1.1\r\nHost: localhost\r\n" + head).getBytes(StandardCharsets.US_ASCII));
      for (int i = 0; i < 1 << 14; i++) {
        if (isChunked) out.write("10000\r\n".getBytes(StandardCharsets.US_ASCII));
        out.write(chunk);
        if (isChunked) out.write("\r\n".getBytes(StandardCharsets.US_ASCII));
      }
      throw new IllegalStateException("the server accepted all of the upload");
    } catch (IOException failure) {
      // expected: the server closed the connection
    }
  }

  private static void flood(ServerProcess server) throws IOException, InterruptedException {
    var clients = new ArrayList<Socket>();
    for (int i = 0; i < 1_000; i++) clients.add(new Socket(InetAddress.getLoopbackAddress(), server.port()));
    Thread.sleep(1_000);
    for (var client : clients) client.close();
  }
}
