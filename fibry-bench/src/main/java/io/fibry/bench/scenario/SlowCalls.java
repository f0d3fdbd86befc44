package io.fibry.bench.scenario;

import io.fibry.ActorSystem;
import io.fibry.bench.ChildJvm;
import io.fibry.bench.report.ResultRow;
import io.fibry.net.HttpExchange;
import io.fibry.pool.Pools;
import io.fibry.stereotype.Stereotypes;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Measures how long 100 HTTP calls to a server take, in sequence and in parallel, with one caller
 * and with six. The server responds after 1.5 ms. {@code taskset} limits the callers to 1, 2 or 4
 * processors.
 */
public final class SlowCalls {
  private static final int ROUNDS = Integer.getInteger("rounds", 15);
  private static final int MAX_PROCESSORS =
      Integer.getInteger("processors", Math.min(4, Runtime.getRuntime().availableProcessors()));
  private static final int[] CALLERS = {1, 6};

  private SlowCalls() {}

  /** Makes {@code -Dsize} calls, on 1, 2, 4 .. processors up to {@code -Dprocessors}. */
  public static void main(String[] args) throws Exception {
    if (args.length > 0) {
      if (args[0].equals("serve")) serve();
      else for (int callers : CALLERS) measure(Integer.parseInt(args[0]), callers, Integer.parseInt(args[1]));
      System.exit(0);
    }
    int calls = Experiment.size(100);
    var server = ChildJvm.start(ChildJvm.command(List.of(), List.of(), SlowCalls.class, "serve"));
    try (var out = server.inputReader()) {
      String port = out.readLine();
      for (int processors = 1; processors <= MAX_PROCESSORS; processors *= 2) {
        var commandPrefix = hasTaskset() ? List.of("taskset", "-c", processors == 1 ? "0" : "0-" + (processors - 1))
            : List.<String>of();
        var lines = ChildJvm.run(commandPrefix, List.of("-XX:ActiveProcessorCount=" + processors, "-Drounds=" + ROUNDS),
            SlowCalls.class, port, calls);
        for (int callers : CALLERS)
          writeResult(processors, callers, calls,
              lines.stream().filter(line -> line.startsWith(callers + "|")).toList());
      }
    } finally {
      server.getOutputStream().close();
      server.onExit().join();
    }
  }

  private static void writeResult(int processors, int callers, int calls, List<String> lines) throws IOException {
    var experiment = new Experiment("slow-calls-" + processors + "-" + callers,
        String.format("%d calls per caller, 1.5 ms each at the server; processors: %d, callers: %d", calls,
            processors, callers));
    for (var line : lines) {
      var parts = line.split("\\|");
      String publishedTime = processors > 1 || callers > 1 ? ""
          : parts[1].contains("sequence, blocking") ? "164 ms" : parts[1].contains("parallel") ? "10.7 ms" : "";
      experiment.add(ResultRow.of(parts[1], "ms", publishedTime,
          ChildJvm.numbers(parts[2])));
    }
    experiment.write();
  }

  private static boolean hasTaskset() throws InterruptedException {
    try {
      return new ProcessBuilder("taskset", "-c", "0", "true").redirectErrorStream(true).start().waitFor() == 0;
    } catch (IOException failure) {
      return false;
    }
  }

  private static void serve() throws Exception {
    System.out.println(Stereotypes.fibers().embeddedHttpServer(0, SlowCalls::respondSlowly).port());
    while (System.in.read() >= 0); // until the parent process closes this stream
  }

  private static String respondSlowly(HttpExchange exchange) throws InterruptedException {
    TimeUnit.MICROSECONDS.sleep(1_500);
    return "Hello";
  }

  // ---- the callers

  private interface CallSeries {
    void make(int calls) throws Exception;
  }

  private record Side(String name, ExecutorService callers, CallSeries series, StringBuilder times) {
    Side(String name, ExecutorService callers, CallSeries series) {
      this(name, callers, series, new StringBuilder());
    }
  }

  private static void measure(int port, int callers, int calls) throws Exception {
    var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/")).build();
    try (var client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        var fibers = Executors.newVirtualThreadPerTaskExecutor();
        var threads = Executors.newCachedThreadPool();
        var pool = Executors.newFixedThreadPool(16)) {
      var actors =
          Pools.perMessage(ActorSystem.anonymous()).newActorWithReturn((HttpRequest call) -> get(client, call));
      var sides = List.of(
          new Side("fibry, in parallel, an actor for each call", fibers,
              n -> callAll(n, () -> actors.sendMessageReturn(request))),
          new Side("fibry, in sequence, one actor", fibers, n -> {
            var actor = ActorSystem.anonymous().newActorWithReturn((HttpRequest call) -> get(client, call));
            for (int i = 0; i < n; i++) actor.ask(request);
          }),
          new Side("by hand: in sequence, blocking, a platform thread", threads, n -> {
            for (int i = 0; i < n; i++) get(client, request);
          }),
          new Side("by hand: in parallel, 16 platform threads", threads,
              n -> callAll(n, () -> pool.submit(() -> get(client, request)))),
          new Side("by hand: in parallel, HttpClient.sendAsync", threads, n -> callAll(n,
              () -> client.sendAsync(request, HttpResponse.BodyHandlers.ofString()).thenApply(SlowCalls::checked))));
      for (int round = -ROUNDS; round < ROUNDS; round++) { // negative rounds warm up
        for (var side : sides) {
          double millis = measureMillis(side, callers, calls);
          if (round >= 0) side.times.append(millis).append(' ');
        }
      }
      for (var side : sides) ChildJvm.tell(callers + "|" + side.name + "|" + side.times);
    }
  }

  private static void callAll(int calls, Supplier<Future<String>> call) throws Exception {
    var responses = new ArrayList<Future<String>>();
    for (int i = 0; i < calls; i++) responses.add(call.get());
    for (var response : responses) response.get();
  }

  private static String get(HttpClient client, HttpRequest request) throws Exception {
    return checked(client.send(request, HttpResponse.BodyHandlers.ofString()));
  }

  private static String checked(HttpResponse<String> response) {
    if (response.statusCode() != 200) throw new IllegalStateException("response with status " + response.statusCode());
    return response.body();
  }

  private static double measureMillis(Side side, int callers, int calls) throws Exception {
    long began = System.nanoTime();
    var futures = new ArrayList<Future<?>>();
    for (int i = 0; i < callers; i++) {
      futures.add(side.callers.submit(() -> {
        side.series.make(calls);
        return null;
      }));
    }
    for (var future : futures) future.get();
    return Experiment.secondsSince(began) * 1e3;
  }
}
