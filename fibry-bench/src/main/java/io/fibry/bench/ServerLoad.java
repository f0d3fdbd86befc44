package io.fibry.bench;

import io.fibry.bench.report.Result;
import io.fibry.bench.report.ResultRow;
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
import java.util.regex.Pattern;
import javax.net.ssl.SSLSocket;

/**
 * Requests per second of our servers under {@code ab} and {@code wrk}, as ratios to others of the
 * same run. Needs both tools on the path ({@code apache2-utils}, {@code wrk}); without {@code go}
 * the servers in Go are left out.
 */
public final class ServerLoad {
  private static final int ROUNDS = Integer.getInteger("rounds", 5);
  private static final List<String> CLOSING = List.of("ab", "-q", "-k", "-n", "50000", "-c", "100");
  private static final List<String> CLOSING_WARM_UP = List.of("ab", "-q", "-k", "-n", "10000", "-c", "100");
  private static final List<String> KEEPING = List.of("wrk", "-t1", "-c100", "-d4s");
  private static final List<String> KEEPING_WARM_UP = List.of("wrk", "-t1", "-c100", "-d2s");
  // each takes a descriptor on both sides
  private static final int IDLE = Integer.getInteger("idle", 9_000);
  private static final int IDLE_TLS = Math.min(IDLE, 1_000);

  /** A server of ours, and the share of each other server's rate that it must reach. */
  private record ServerQuestion(String file, String name, List<String> load, String ours, Map<String, Double> shares) {}

  private static final List<ServerQuestion> QUESTIONS = List.of(
      new ServerQuestion("load-closing", "answers and closes", CLOSING, "acceptor",
          ordered("loop", 1.25, "acceptor-threads", 1.8, "go", 0.85, "loop-buffered", 0.0)),
      new ServerQuestion("load-keeping", "keeps the connection", KEEPING, "acceptor-keep",
          ordered("loop-keep", 0.95, "go-keep", 0.0)),
      new ServerQuestion("load-http", "answers HTTP", KEEPING, "http", ordered("jdk-http", 0.9)),
      new ServerQuestion("load-https", "answers HTTPS", KEEPING, "https", ordered("http", 0.6, "jdk-https", 0.9)));

  private ServerLoad() {}

  private static Map<String, Double> ordered(Object... entries) {
    var map = new LinkedHashMap<String, Double>();
    for (int i = 0; i < entries.length; i += 2) map.put((String) entries[i], (Double) entries[i + 1]);
    return map;
  }

  /** {@code speed}, the file of a question, {@code again} or {@code idle}; without any, all. */
  public static void main(String[] args) throws Exception {
    System.out.printf("JDK %s, %d processors; %d rounds in turn, median (least..most) requests a second%n",
        Runtime.version(), Runtime.getRuntime().availableProcessors(), ROUNDS);
    boolean kept = true;
    var wanted = Set.of(args);
    for (var question : QUESTIONS)
      if (args.length == 0 || wanted.contains("speed") || wanted.contains(question.file)) kept &= answer(question);
    if (args.length == 0 || wanted.contains("again")) again();
    if (args.length == 0 || wanted.contains("idle")) {
      kept &= idle();
      idleTls();
    }
    System.out.println(kept ? "all kept" : "BROKEN, see above");
    System.exit(kept ? 0 : 1);
  }

  private static boolean answer(ServerQuestion question) throws Exception {
    var all = new LinkedHashMap<String, List<Double>>();
    all.put(question.ours, new ArrayList<>());
    for (var other : question.shares.keySet())
      if (!other.startsWith("go") || ServerProcess.hasGo()) all.put(other, new ArrayList<>());
    System.out.println(question.name + " (" + String.join(" ", question.load) + ")");
    for (int round = 0; round < ROUNDS; round++)
      for (var each : all.entrySet()) {
        try (var server = new ServerProcess(each.getKey())) {
          load(question.load == KEEPING ? KEEPING_WARM_UP : CLOSING_WARM_UP, each.getKey(), server.port());
          each.getValue().add(load(question.load, each.getKey(), server.port()));
        }
      }
    boolean kept = true;
    var rows = new ArrayList<ResultRow>();
    for (var each : all.entrySet()) {
      double must = question.shares.getOrDefault(each.getKey(), 0.0);
      var row = ResultRow.of(each.getKey().replace("acceptor", "fibry acceptor").replaceFirst("^http", "fibry http"),
          "requests/s", must == 0 ? "" : "ours >= " + must + " of it",
          each.getValue().stream().mapToDouble(Double::doubleValue).toArray());
      rows.add(row);
      double ratio = rows.getFirst().median() / row.median();
      kept &= ratio >= must;
      System.out.printf(Locale.ROOT, "  %-18s %,8.0f (%,.0f..%,.0f)%s%s%n", each.getKey(), row.median(), row.least(),
          row.most(), rows.size() == 1 ? "" : String.format(Locale.ROOT, "   ours is %.2f of it", ratio), must == 0 ? ""
              : String.format(Locale.ROOT, ", must be >= %.2f: %s", must, ratio >= must ? "kept" : "BROKEN"));
    }
    Result.here(question.file, "a server that " + question.name + ", under " + String.join(" ", question.load), rows)
        .write();
    return kept;
  }

  /** Requests per second; throws if one failed. */
  private static double load(List<String> command, String server, int port) throws IOException, InterruptedException {
    var whole = new ArrayList<>(command);
    whole.add((server.endsWith("https") ? "https" : "http") + "://127.0.0.1:" + port + "/");
    var process = new ProcessBuilder(whole).redirectErrorStream(true).start();
    String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) throw new IllegalStateException(String.join(" ", whole) + " failed: " + printed);
    var failed = Pattern.compile("Failed requests: +(\\d+)|Non-2xx or 3xx responses: +(\\d+)|Socket errors: (.*)")
        .matcher(printed);
    if (failed.find() && !"0".equals(failed.group(1))) throw new IllegalStateException("requests failed: " + printed);
    var rate = Pattern.compile("Requests(?: per second|/sec): +([\\d.]+)").matcher(printed);
    if (!rate.find()) throw new IllegalStateException("no rate in: " + printed);
    return Double.parseDouble(rate.group(1));
  }

  // ---- clients that leave

  private static void again() throws Exception {
    System.out.println("ten runs in a row at one acceptor: each leaves connections behind");
    try (var server = new ServerProcess("acceptor")) {
      for (int i = 0; i < 10; i++) System.out.printf(Locale.ROOT, " %,.0f", load(CLOSING, "acceptor", server.port()));
      System.out.println();
    }
  }

  // ---- many idle connections

  private static boolean idle() throws Exception {
    System.out.printf(Locale.ROOT, "%,d idle connections to one acceptor, then hello to it%n", IDLE);
    try (var server = new ServerProcess("acceptor-keep")) {
      double before = 0;
      for (int i = 0; i < 5; i++) before = latency(server.port()); // with warm-up
      long empty = server.usage().heap();
      var idle = new ArrayList<Socket>();
      for (int i = 0; i < IDLE; i++) idle.add(new Socket(InetAddress.getLoopbackAddress(), server.port()));
      latency(server.port());
      double each = (server.usage().heap() - empty) / (double) IDLE;
      double after = latency(server.port());
      for (var socket : idle) socket.close();
      boolean kept = each <= 10_000 && after <= 2 * before;
      System.out.printf(Locale.ROOT,
          "  heap %,.0f bytes each, must be <= 10,000; hello p99 %.2f ms without them, %.2f ms with them, must at "
              + "most double: %s%n",
          each, before, after, kept ? "kept" : "BROKEN");
      return kept;
    }
  }

  private static void idleTls() throws Exception {
    for (var name : List.of("https", "jdk-https")) {
      try (var server = new ServerProcess(name)) {
        load(KEEPING_WARM_UP, name, server.port());
        long empty = server.usage().heap();
        var idle = new ArrayList<Socket>();
        var factory = OwnCertificate.client().getSocketFactory();
        for (int i = 0; i < IDLE_TLS; i++) {
          var socket = (SSLSocket) factory.createSocket(InetAddress.getLoopbackAddress(), server.port());
          socket.startHandshake();
          idle.add(socket);
        }
        System.out.printf(Locale.ROOT, "%,d idle connections to %s: heap %,.0f bytes each%n", IDLE_TLS, name,
            (server.usage().heap() - empty) / (double) IDLE_TLS);
        for (var socket : idle) socket.close();
      }
    }
  }

  /** The 99th percentile of requests in a row, in milliseconds. */
  private static double latency(int port) throws IOException {
    var took = new long[10_000];
    try (var socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setTcpNoDelay(true);
      byte[] request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
      var answer = new byte[512];
      for (int i = 0; i < took.length; i++) {
        long began = System.nanoTime();
        socket.getOutputStream().write(request);
        int length = 0;
        while (length == 0 || answer[length - 1] != '\n' || answer[length - 2] != 'o')
          length += socket.getInputStream().read(answer, length, answer.length - length);
        took[i] = System.nanoTime() - began;
      }
    }
    Arrays.sort(took);
    return took[took.length * 99 / 100] / 1e6;
  }
}
