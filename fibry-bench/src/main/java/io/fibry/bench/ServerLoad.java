package io.fibry.bench;

import io.fibry.bench.report.Result;
import io.fibry.bench.report.ResultRow;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import javax.net.ssl.SSLSocket;

/**
 * Measures the requests per second of Fibry's servers under {@code ab} and {@code wrk}, and their
 * ratio to other servers in the same run. Both tools must be on the path (packages
 * {@code apache2-utils} and {@code wrk}). Without {@code go} the servers in Go are left
 * out, and the result names them.
 */
public final class ServerLoad {
  private static final int ROUNDS = Integer.getInteger("rounds", 5);
  private static final List<String> AB_LOAD = List.of("ab", "-q", "-k", "-n", "50000", "-c", "100");
  private static final List<String> AB_WARM_UP = List.of("ab", "-q", "-k", "-n", "10000", "-c", "100");
  private static final List<String> WRK_LOAD = List.of("wrk", "-t1", "-c100", "-d4s");
  private static final List<String> WRK_WARM_UP = List.of("wrk", "-t1", "-c100", "-d2s");
  // must be below the limit of descriptors, because each connection takes a descriptor in both
  // processes
  private static final int IDLE_CONNECTIONS = Integer.getInteger("idle", 9_000);
  private static final int IDLE_TLS_CONNECTIONS = Math.min(IDLE_CONNECTIONS, 1_000);

  /** A server of Fibry, and the share of each other server's rate that it must reach. */
  private record ServerQuestion(String file, String name, List<String> load, String ours, Map<String, Double> shares) {}

  private static final List<ServerQuestion> QUESTIONS = List.of(
      new ServerQuestion("load-closing", "answers and closes", AB_LOAD, "acceptor",
          ordered("loop", 1.25, "acceptor-threads", 1.8, "go", 0.85, "loop-buffered", 0.0)),
      new ServerQuestion("load-keeping", "keeps the connection", WRK_LOAD, "acceptor-keep",
          ordered("loop-keep", 0.95, "go-keep", 0.0)),
      new ServerQuestion("load-http", "answers HTTP", WRK_LOAD, "http", ordered("jdk-http", 0.9)),
      new ServerQuestion("load-https", "answers HTTPS", WRK_LOAD, "https", ordered("http", 0.6, "jdk-https", 0.9)));

  private ServerLoad() {}

  private static Map<String, Double> ordered(Object... entries) {
    var map = new LinkedHashMap<String, Double>();
    for (int i = 0; i < entries.length; i += 2) map.put((String) entries[i], (Double) entries[i + 1]);
    return map;
  }

  /**
   * Runs the measurements that the arguments name, or all without arguments. An argument is
   * {@code speed} for all questions, the file of a question, {@code again} for ten runs in a row,
   * or {@code idle} for idle connections.
   *
   * @throws IllegalArgumentException if an argument is unknown
   */
  public static void main(String[] args) throws Exception {
    var choices = Set.of(args);
    checkKnown(choices);
    System.out.printf("JDK %s, %d processors; %d rounds in turn, median (min..max) requests a second%n",
        Runtime.version(), Runtime.getRuntime().availableProcessors(), ROUNDS);
    boolean areAllKept = true;
    for (var question : QUESTIONS)
      if (args.length == 0 || choices.contains("speed") || choices.contains(question.file))
        areAllKept &= compare(question);
    if (args.length == 0 || choices.contains("again")) runTenTimes();
    if (args.length == 0 || choices.contains("idle")) {
      areAllKept &= measureIdle();
      measureIdleTls();
    }
    System.out.println(areAllKept ? "all kept" : "BROKEN, see above");
    System.exit(areAllKept ? 0 : 1);
  }

  private static void checkKnown(Set<String> choices) {
    var known = new TreeSet<>(Set.of("speed", "again", "idle"));
    for (var question : QUESTIONS) known.add(question.file);
    if (!known.containsAll(choices))
      throw new IllegalArgumentException("unknown arguments among " + choices + "; there are " + known);
  }

  /**
   * Measures all servers of a question. Returns whether Fibry's server reaches the required shares
   * of their rates.
   */
  private static boolean compare(ServerQuestion question) throws Exception {
    var rates = new LinkedHashMap<String, List<Double>>();
    rates.put(question.ours, new ArrayList<>());
    var leftOutServers = new ArrayList<String>();
    for (var server : question.shares.keySet())
      if (server.startsWith("go") && !ServerProcess.hasGo()) leftOutServers.add(server);
      else rates.put(server, new ArrayList<>());
    var title = title(question.name, question.load, leftOutServers);
    System.out.println(title);
    for (int round = 0; round < ROUNDS; round++)
      for (var entry : rates.entrySet()) {
        try (var server = new ServerProcess(entry.getKey())) {
          requestRate(question.load == WRK_LOAD ? WRK_WARM_UP : AB_WARM_UP, entry.getKey(), server.port());
          entry.getValue().add(requestRate(question.load, entry.getKey(), server.port()));
        }
      }
    boolean areSharesReached = true;
    var rows = new ArrayList<ResultRow>();
    for (var entry : rates.entrySet()) {
      double minShare = question.shares.getOrDefault(entry.getKey(), 0.0);
      var row = ResultRow.of(entry.getKey().replace("acceptor", "fibry acceptor").replaceFirst("^http", "fibry http"),
          "requests/s", minShare == 0 ? "" : "ours >= " + minShare + " of it",
          entry.getValue().stream().mapToDouble(Double::doubleValue).toArray());
      rows.add(row);
      double ratio = rows.getFirst().median() / row.median();
      areSharesReached &= ratio >= minShare;
      System.out.printf(Locale.ROOT, "  %-18s %,8.0f (%,.0f..%,.0f)%s%s%n", entry.getKey(), row.median(), row.least(),
          row.most(), rows.size() == 1 ? "" : String.format(Locale.ROOT, "   ours is %.2f of it", ratio),
          minShare == 0 ? "" : String.format(Locale.ROOT, ", must be >= %.2f: %s", minShare,
              ratio >= minShare ? "kept" : "BROKEN"));
    }
    Result.here(question.file, title, rows).write();
    return areSharesReached;
  }

  static String title(String question, List<String> load, List<String> leftOutServers) {
    return "a server that " + question + ", under " + String.join(" ", load) + (leftOutServers.isEmpty() ? ""
        : "; not measured, because Go is missing or could not compile them: " + String.join(", ", leftOutServers));
  }

  /** Runs a load tool, and returns the requests per second; throws if a request failed. */
  private static double requestRate(List<String> command, String server, int port)
      throws IOException, InterruptedException {
    var arguments = new ArrayList<>(command);
    arguments.add((server.endsWith("https") ? "https" : "http") + "://127.0.0.1:" + port + "/");
    var process = new ProcessBuilder(arguments).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) throw new IllegalStateException(String.join(" ", arguments) + " failed: " + output);
    return rate(output);
  }

  /**
   * Returns the requests per second that {@code ab} or {@code wrk} has printed; throws if a request
   * failed.
   */
  static double rate(String output) {
    // ab always prints the number of failed requests; the tools print the other lines only if there
    // are failures
    if (Pattern.compile("Failed requests: +[1-9]|Non-2xx( or 3xx)? responses: |Socket errors: ").matcher(output).find())
      throw new IllegalStateException("requests failed: " + output);
    var rate = Pattern.compile("Requests(?: per second|/sec): +([\\d.]+)").matcher(output);
    if (!rate.find()) throw new IllegalStateException("no rate in: " + output);
    return Double.parseDouble(rate.group(1));
  }

  // ---- ten runs in a row at one server, which still has the closed connections of earlier runs

  private static void runTenTimes() throws Exception {
    System.out.println("ten runs in a row at one acceptor, which still has the closed connections of earlier runs");
    try (var server = new ServerProcess("acceptor")) {
      for (int i = 0; i < 10; i++)
        System.out.printf(Locale.ROOT, " %,.0f", requestRate(AB_LOAD, "acceptor", server.port()));
      System.out.println();
    }
  }

  // ---- many idle connections

  /** Returns whether the heap and the latency with idle connections are within their bounds. */
  private static boolean measureIdle() throws Exception {
    System.out.printf(Locale.ROOT, "%,d idle connections to one acceptor, then requests to it%n", IDLE_CONNECTIONS);
    try (var server = new ServerProcess("acceptor-keep")) {
      double latencyBefore = 0;
      for (int i = 0; i < 5; i++) latencyBefore = latencyMillis(server.port()); // the first four are a warm-up
      long heapBefore = server.usage().heap();
      var connections = new ArrayList<Socket>();
      for (int i = 0; i < IDLE_CONNECTIONS; i++)
        connections.add(new Socket(InetAddress.getLoopbackAddress(), server.port()));
      latencyMillis(server.port());
      double bytesEach = (server.usage().heap() - heapBefore) / (double) IDLE_CONNECTIONS;
      double latencyAfter = latencyMillis(server.port());
      for (var socket : connections) socket.close();
      boolean isKept = bytesEach <= 10_000 && latencyAfter <= 2 * latencyBefore;
      System.out.printf(Locale.ROOT,
          "  heap %,.0f bytes each, must be <= 10,000; request p99 %.2f ms without them, %.2f ms with them, must at "
              + "most double: %s%n",
          bytesEach, latencyBefore, latencyAfter, isKept ? "kept" : "BROKEN");
      return isKept;
    }
  }

  private static void measureIdleTls() throws Exception {
    for (var name : List.of("https", "jdk-https")) {
      try (var server = new ServerProcess(name)) {
        requestRate(WRK_WARM_UP, name, server.port());
        long heapBefore = server.usage().heap();
        var connections = new ArrayList<Socket>();
        var factory = SelfSignedTls.clientContext().getSocketFactory();
        for (int i = 0; i < IDLE_TLS_CONNECTIONS; i++) {
          var socket = (SSLSocket) factory.createSocket(InetAddress.getLoopbackAddress(), server.port());
          socket.startHandshake();
          connections.add(socket);
        }
        System.out.printf(Locale.ROOT, "%,d idle connections to %s: heap %,.0f bytes each%n", IDLE_TLS_CONNECTIONS,
            name, (server.usage().heap() - heapBefore) / (double) IDLE_TLS_CONNECTIONS);
        for (var socket : connections) socket.close();
      }
    }
  }

  /** Returns the 99th percentile of the times of 10,000 requests in a row, in milliseconds. */
  private static double latencyMillis(int port) throws IOException {
    var nanos = new long[10_000];
    try (var socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setTcpNoDelay(true);
      byte[] request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
      var response = new byte[512];
      for (int i = 0; i < nanos.length; i++) {
        long start = System.nanoTime();
        socket.getOutputStream().write(request);
        int length = 0;
        while (length == 0 || response[length - 1] != '\n' || response[length - 2] != 'o') {
          int count = socket.getInputStream().read(response, length, response.length - length);
          if (count < 0) throw new EOFException("the server closed the connection after " + i + " requests");
          length += count;
        }
        nanos[i] = System.nanoTime() - start;
      }
    }
    Arrays.sort(nanos);
    return nanos[nanos.length * 99 / 100] / 1e6;
  }
}
