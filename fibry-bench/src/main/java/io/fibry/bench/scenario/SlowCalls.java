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
 * How long 100 HTTP calls take, in sequence and in parallel, to a server that answers after 1.5 ms,
 * by one caller and by six. {@code taskset} holds the callers to 1, 2 or 4 processors.
 */
public final class SlowCalls {
  private static final int ROUNDS = Integer.getInteger("rounds", 15);
  private static final int PROCESSORS =
      Integer.getInteger("processors", Math.min(4, Runtime.getRuntime().availableProcessors()));
  private static final int[] CALLERS = {1, 6};

  private SlowCalls() {}

  /** {@code -Dsize} calls on at most {@code -Dprocessors} processors. */
  public static void main(String[] args) throws Exception {
    if (args.length > 0) {
      if (args[0].equals("serve")) serve();
      else for (int callers : CALLERS) call(Integer.parseInt(args[0]), callers, Integer.parseInt(args[1]));
      System.exit(0);
    }
    int calls = Experiment.size(100);
    var server = ChildJvm.start(ChildJvm.command(List.of(), List.of(), SlowCalls.class, "serve"));
    try (var out = server.inputReader()) {
      String port = out.readLine();
      for (int processors = 1; processors <= PROCESSORS; processors *= 2) {
        var before = hasTaskset() ? List.of("taskset", "-c", processors == 1 ? "0" : "0-" + (processors - 1))
            : List.<String>of();
        var said = ChildJvm.run(before, List.of("-XX:ActiveProcessorCount=" + processors, "-Drounds=" + ROUNDS),
            SlowCalls.class, port, calls);
        for (int callers : CALLERS)
          tell(processors, callers, calls, said.stream().filter(line -> line.startsWith(callers + "|")).toList());
      }
    } finally {
      server.getOutputStream().close();
      server.onExit().join();
    }
  }

  private static void tell(int processors, int callers, int calls, List<String> said) throws IOException {
    var experiment = new Experiment("slow-calls-" + processors + "-" + callers,
        String.format("%d calls per caller, 1.5 ms each at the server; processors: %d, callers: %d", calls,
            processors, callers));
    for (var line : said) {
      var parts = line.split("\\|");
      String published = processors > 1 || callers > 1 ? ""
          : parts[1].contains("sequence, blocking") ? "164 ms" : parts[1].contains("parallel") ? "10.7 ms" : "";
      experiment.add(ResultRow.of(parts[1], "ms", published,
          ChildJvm.numbers(parts[2])));
    }
    experiment.write();
  }

  private static boolean hasTaskset() throws InterruptedException {
    try {
      return new ProcessBuilder("taskset", "-c", "0", "true").redirectErrorStream(true).start().waitFor() == 0;
    } catch (IOException absent) {
      return false;
    }
  }

  private static void serve() throws Exception {
    System.out.println(Stereotypes.fibers().embeddedHttpServer(0, SlowCalls::slow).port());
    while (System.in.read() >= 0); // until the parent closes it
  }

  private static String slow(HttpExchange exchange) throws InterruptedException {
    TimeUnit.MICROSECONDS.sleep(1_500);
    return "Hello";
  }

  // ---- the callers

  private interface CallSeries {
    void make(int calls) throws Exception;
  }

  private record Side(String name, ExecutorService callers, CallSeries series, StringBuilder took) {
    Side(String name, ExecutorService callers, CallSeries series) {
      this(name, callers, series, new StringBuilder());
    }
  }

  private static void call(int port, int callers, int calls) throws Exception {
    var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/")).build();
    try (var client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        var fibers = Executors.newVirtualThreadPerTaskExecutor();
        var threads = Executors.newCachedThreadPool();
        var pool = Executors.newFixedThreadPool(16)) {
      var actors =
          Pools.perMessage(ActorSystem.anonymous()).newActorWithReturn((HttpRequest call) -> get(client, call));
      var sides = List.of(
          new Side("fibry, in parallel, an actor for each call", fibers,
              n -> all(n, () -> actors.sendMessageReturn(request))),
          new Side("fibry, in sequence, one actor", fibers, n -> {
            var one = ActorSystem.anonymous().newActorWithReturn((HttpRequest call) -> get(client, call));
            for (int i = 0; i < n; i++) one.ask(request);
          }),
          new Side("by hand: in sequence, blocking, a platform thread", threads, n -> {
            for (int i = 0; i < n; i++) get(client, request);
          }),
          new Side("by hand: in parallel, 16 platform threads", threads,
              n -> all(n, () -> pool.submit(() -> get(client, request)))),
          new Side("by hand: in parallel, HttpClient.sendAsync", threads, n -> all(n,
              () -> client.sendAsync(request, HttpResponse.BodyHandlers.ofString()).thenApply(SlowCalls::checked))));
      for (int round = -ROUNDS; round < ROUNDS; round++) { // negative rounds warm up
        for (var side : sides) {
          double took = millis(side, callers, calls);
          if (round >= 0) side.took.append(took).append(' ');
        }
      }
      for (var side : sides) ChildJvm.tell(callers + "|" + side.name + "|" + side.took);
    }
  }

  private static void all(int calls, Supplier<Future<String>> call) throws Exception {
    var answers = new ArrayList<Future<String>>();
    for (int i = 0; i < calls; i++) answers.add(call.get());
    for (var answer : answers) answer.get();
  }

  private static String get(HttpClient client, HttpRequest request) throws Exception {
    return checked(client.send(request, HttpResponse.BodyHandlers.ofString()));
  }

  private static String checked(HttpResponse<String> response) {
    if (response.statusCode() != 200) throw new IllegalStateException("answered " + response.statusCode());
    return response.body();
  }

  private static double millis(Side side, int callers, int calls) throws Exception {
    long began = System.nanoTime();
    var all = new ArrayList<Future<?>>();
    for (int i = 0; i < callers; i++) {
      all.add(side.callers.submit(() -> {
        side.series.make(calls);
        return null;
      }));
    }
    for (var one : all) one.get();
    return Experiment.seconds(began) * 1e3;
  }
}
