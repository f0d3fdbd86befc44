package io.fibry.nodes;

import io.fibry.RequestException;
import io.fibry.cluster.Cluster;
import io.fibry.pool.Entities;
import io.fibry.test.NatsServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Three servers of NATS, and three processes that host a hundred purses. The program moves money
 * between purses, kills one process after the other, and starts a new process in place of each. At
 * the end there is as much money as at the beginning.
 */
final class FailoverRun implements AutoCloseable {
  private static final int NODES = 3;
  private static final int PURSES = 100;
  private static final int PAYERS = 8;
  private static final Duration LIMIT = Duration.ofSeconds(2); // of one request for a transfer
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** The result of a run; {@code totalCents} is the sum of all purses at its end. */
  record Result(int paid, int askedAgain, int killed, Duration longestSilence, long totalCents) {}

  private final List<NatsServer> servers;
  private final String urls;
  private final Cluster front;
  private final Entities<String, Purses.Message> purses;
  private final ArrayDeque<Process> nodes = new ArrayDeque<>(); // oldest first
  private final AtomicInteger paid = new AtomicInteger();
  private final AtomicInteger askedAgain = new AtomicInteger();
  private final AtomicBoolean isEnded = new AtomicBoolean();
  private int started;

  private FailoverRun(Path folder) throws IOException {
    servers = NatsServer.cluster(folder, 3);
    urls = servers.stream().map(NatsServer::url).collect(Collectors.joining(","));
    front = Node.join("front", urls);
    for (int i = 0; i < NODES; i++) start();
    purses = front.entities(Purses.PURSE);
  }

  public static void main(String[] args) throws Exception {
    if (NatsServer.find().isEmpty()) {
      System.err.println(NatsServer.INSTALL_HINT);
      System.exit(1);
    }
    run(Files.createTempDirectory("three-nodes"), Duration.ofSeconds(Long.parseLong(args[0])));
  }

  static Result run(Path folder, Duration time) throws Exception {
    try (var demonstration = new FailoverRun(folder)) {
      return demonstration.run(time);
    }
  }

  private void start() throws IOException {
    String name = "n" + ++started;
    nodes.add(new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx256m",
        "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", // with these flags a node starts sooner
        System.getProperty("java.class.path"), "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", Node.class.getName(),
        name, urls).inheritIO().start());
    System.out.println(name + " was started");
  }

  private Result run(Duration duration) throws Exception {
    await("three nodes",
        () -> front.members().stream().filter(member -> member.hosts().contains("purse")).count() == NODES);
    awaitAll();
    System.out
        .println(PURSES + " purses with " + Purses.INITIAL_CENTS + " cents each are hosted by " + NODES + " nodes");
    var longestSilence = Duration.ZERO;
    int killed = 0;
    long deadline = System.nanoTime() + duration.toNanos();
    try (var fibers = Executors.newVirtualThreadPerTaskExecutor()) {
      var payers = IntStream.range(0, PAYERS).mapToObj(i -> fibers.submit(() -> pay(i))).toList();
      try {
        while (System.nanoTime() < deadline) {
          int paidBefore = paid.get();
          await("transfers", () -> paid.get() >= paidBefore + 200);
          nodes.remove().destroyForcibly().waitFor();
          killed++;
          var silence = awaitAll();
          longestSilence = silence.compareTo(longestSilence) > 0 ? silence : longestSilence;
          System.out.printf("a node was killed after %,d transfers; all purses answered again after %.1f s%n",
              paid.get(), silence.toMillis() / 1e3);
          start(); // purses move to the new node without failed requests
        }
      } finally {
        isEnded.set(true); // the payers end, even after a failure
      }
      for (var payer : payers) payer.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }
    long total = PURSES * Purses.INITIAL_CENTS;
    await("the same sum", () -> sum() == total); // messages may still be in flight
    System.out.printf("%,d transfers were answered, %,d requests were repeated; the purses have %,d cents, as before%n",
        paid.get(), askedAgain.get(), sum());
    return new Result(paid.get(), askedAgain.get(), killed, longestSilence, sum());
  }

  /**
   * Repeats each transfer until it is answered or the run ends. A transfer without an answer is
   * stored as a whole, or not at all.
   */
  private void pay(int payer) {
    var random = new Random();
    for (int i = 0; !isEnded.get(); i++) {
      var purse = purses.actor("p" + random.nextInt(PURSES));
      var pay = new Purses.Pay(payer + "-" + i, "p" + random.nextInt(PURSES), random.nextInt(100));
      boolean answered = isAnswered(() -> purse.ask(pay, LIMIT));
      for (; !answered
          && !isEnded.get(); answered = isAnswered(() -> purse.ask(pay, LIMIT)))
        askedAgain.incrementAndGet();
      if (answered) paid.incrementAndGet();
    }
  }

  private static boolean isAnswered(Runnable request) {
    try {
      request.run();
      return true;
    } catch (RequestException | CancellationException failure) {
      return false;
    }
  }

  /** Waits until each purse has answered, and returns how long that took. */
  private Duration awaitAll() throws InterruptedException {
    long begin = System.nanoTime();
    for (int i = 0; i < PURSES; i++) {
      var purse = purses.actor("p" + i);
      await("an answer", () -> isAnswered(() -> purse.ask(new Purses.Count(), Duration.ofMillis(500))));
    }
    return Duration.ofNanos(System.nanoTime() - begin);
  }

  private long sum() {
    return IntStream.range(0, PURSES).mapToLong(i -> purses.actor("p" + i).ask(new Purses.Count())).sum();
  }

  /**
   * Waits until a condition holds. Fails if it does not hold for 60 seconds in which the nodes used
   * no processor time, because a busy machine only delays the nodes.
   */
  private void await(String description, BooleanSupplier condition) throws InterruptedException {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    for (long lastCpuMillis = 0; !condition.getAsBoolean(); TimeUnit.MILLISECONDS.sleep(10)) {
      long cpuMillis = nodes.stream().mapToLong(FailoverRun::cpuMillis).sum();
      if (cpuMillis != lastCpuMillis) deadline = System.nanoTime() + PATIENCE.toNanos();
      else if (System.nanoTime() - deadline > 0) throw new IllegalStateException("waited in vain for " + description);
      lastCpuMillis = cpuMillis;
    }
  }

  private static long cpuMillis(Process node) {
    return node.info().totalCpuDuration().map(Duration::toMillis).orElse(0L);
  }

  @Override
  public void close() {
    isEnded.set(true);
    nodes.forEach(Process::destroyForcibly);
    front.close();
    servers.forEach(NatsServer::close);
  }
}
