package io.fibry.bench;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.simulation.Simulation;
import io.fibry.simulation.agent.AgentAttacher;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Measures how many runs of a program a simulation makes per second. In turns with the simulation,
 * the same program runs on real threads, as the reference.
 */
public final class SimulationSpeed {
  private static final int ROUNDS = 7;
  private static final int RUNS = 2_000; // in a round

  private record Take(long cents) implements Request<Take, Boolean> {}

  private interface Program {
    void run(ActorScope scope) throws Exception;
  }

  private SimulationSpeed() {}

  public static void main(String[] args) throws Exception {
    long start = System.nanoTime();
    AgentAttacher.ensure();
    System.out.printf("the agent was attached after %d ms%n", (System.nanoTime() - start) / 1_000_000);
    measure("bank", RUNS, scope -> bank(scope, 2));
    measure("long", RUNS / 20, scope -> bank(scope, 200)); // long runs, so that their steps take nearly all of the time
    measure("web", RUNS / 10, SimulationSpeed::web);
    year();
  }

  /** Runs three clerks, each of which asks two accounts in turn for {@code times} withdrawals. */
  private static void bank(ActorScope scope, int times) throws Exception {
    var accounts = new ArrayList<Actor<Take>>();
    for (int i = 0; i < 2; i++) accounts.add(scope.named("account" + i).initialState(() -> new long[] {100})
        .newActor((long[] balance, Take take, ActorContext<Take> context) -> {
          boolean isCovered = balance[0] >= take.cents();
          if (isCovered) balance[0] -= take.cents();
          context.reply(take, isCovered);
        }));
    runAtOnce(3, clerk -> {
      for (int i = 0; i < times; i++) accounts.get((clerk + i) % 2).ask(new Take(30));
    });
  }

  /** Runs a web server, and four clients that each load a page from it. */
  private static void web(ActorScope scope) throws Exception {
    try (var server = HttpServer.open(scope.anonymous(), 0, HttpRoutes.none().text("GET /", exchange -> "hello"),
        options -> options)) {
      runAtOnce(4, client -> {
        try (var socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
          socket.getOutputStream()
              .write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
          var page = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
          if (!page.startsWith("HTTP/1.1 200")) throw new IOException(page);
        }
      });
    }
  }

  private interface Work {
    void run(int number) throws Exception;
  }

  private static void runAtOnce(int threads, Work task) throws Exception {
    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> results = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        int number = i;
        results.add(executor.submit(() -> {
          task.run(number);
          return null;
        }));
      }
      for (var result : results) result.get();
    }
  }

  private static void measure(String name, int runs, Program program) throws Exception {
    var ratios = new ArrayList<Double>();
    double meanSeconds = 0;
    double meanSteps = 0;
    for (int round = -2; round < ROUNDS; round++) {
      long start = System.nanoTime();
      var summary = Simulation.run(options -> options.withSeeds(runs), sim -> program.run(sim.scope()));
      double simulationSeconds = (System.nanoTime() - start) / 1e9;
      start = System.nanoTime();
      for (int i = 0; i < runs; i++) {
        try (var scope = ActorSystem.openScope("real")) {
          program.run(scope);
        }
      }
      double realSeconds = (System.nanoTime() - start) / 1e9;
      if (round < 0) continue; // a warm-up
      ratios.add(realSeconds / simulationSeconds);
      meanSeconds += simulationSeconds / ROUNDS;
      meanSteps += (double) summary.steps() / ROUNDS;
    }
    ratios.sort(null);
    System.out.printf("%-5s %,8.0f seeds/s, %.2f us a step of %.0f; speed / real threads: %.2f (%.2f..%.2f)%n",
        name,
        runs / meanSeconds, 1e6 * meanSeconds / meanSteps, meanSteps / runs, ratios.get(ROUNDS / 2), ratios.getFirst(),
        ratios.getLast());
  }

  /** Simulates a year. There is no reference, because no real program can wait that long. */
  private static void year() {
    long start = System.nanoTime();
    var summary = Simulation.run(options -> options.withSeeds(RUNS), sim -> {
      var daily = sim.scope().named("daily").newActor((String tick) -> {});
      daily.sendMessageEvery("tick", Duration.ofDays(1));
      Thread.sleep(Duration.ofDays(365));
    });
    double seconds = (System.nanoTime() - start) / 1e9;
    System.out.printf("year  %,8.0f seeds/s: %.0f years in %.1f s%n", RUNS / seconds, summary.seconds() / 31_536_000,
        seconds);
  }
}
