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
 * Three servers of NATS, and three processes that host a hundred purses. Money goes from one purse
 * to another, while one process after the other is killed, and a new one takes its place. At the
 * end there is as much money as at the beginning.
 */
final class ThreeNodes implements AutoCloseable {
  private static final int NODES = 3;
  private static final int PURSES = 100;
  private static final int PAYERS = 8;
  private static final Duration LIMIT = Duration.ofSeconds(2);
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** What happened. */
  record Result(int paid, int askedAgain, int killed, Duration longestSilence, long cents) {}

  private final List<NatsServer> servers;
  private final String urls;
  private final Cluster front;
  private final Entities<String, Purses.Message> purses;
  private final ArrayDeque<Process> nodes = new ArrayDeque<>(); // the oldest first
  private final AtomicInteger paid = new AtomicInteger();
  private final AtomicInteger askedAgain = new AtomicInteger();
  private final AtomicBoolean end = new AtomicBoolean();
  private int started;

  private ThreeNodes(Path folder) throws IOException {
    servers = NatsServer.cluster(folder, 3);
    urls = servers.stream().map(NatsServer::url).collect(Collectors.joining(","));
    front = Node.join("front", urls);
    for (int i = 0; i < NODES; i++) start();
    purses = front.entities(Purses.PURSE);
  }

  public static void main(String[] args) throws Exception {
    if (NatsServer.find().isEmpty()) {
      System.err.println(NatsServer.HOW);
      System.exit(1);
    }
    run(Files.createTempDirectory("three-nodes"), Duration.ofSeconds(Long.parseLong(args[0])));
  }

  static Result run(Path folder, Duration time) throws Exception {
    try (var all = new ThreeNodes(folder)) {
      return all.run(time);
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

  private Result run(Duration time) throws Exception {
    await("three nodes",
        () -> front.members().stream().filter(one -> one.hosts().contains("purse")).count() == NODES);
    awaitAll();
    System.out.println(PURSES + " purses with " + Purses.AT_FIRST + " cents each are at home on " + NODES + " nodes");
    var longest = Duration.ZERO;
    int killed = 0;
    long stop = System.nanoTime() + time.toNanos();
    try (var fibers = Executors.newVirtualThreadPerTaskExecutor()) {
      var payers = IntStream.range(0, PAYERS).mapToObj(i -> fibers.submit(() -> pay(i))).toList();
      try {
        while (System.nanoTime() < stop) {
          int before = paid.get();
          await("transfers", () -> paid.get() >= before + 200);
          nodes.remove().destroyForcibly().waitFor();
          killed++;
          var silence = awaitAll();
          longest = silence.compareTo(longest) > 0 ? silence : longest;
          System.out.printf("a node was killed after %,d transfers; all purses answered again after %.1f s%n",
              paid.get(), silence.toMillis() / 1e3);
          start(); // purses move to it, and nobody notices
        }
      } finally {
        end.set(true); // otherwise the payers would continue
      }
      for (var one : payers) one.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }
    long all = PURSES * Purses.AT_FIRST;
    await("the same sum", () -> sum() == all); // sent messages may not have arrived yet
    System.out.printf("%,d transfers were answered, %,d were asked for again; the purses have %,d cents, as before%n",
        paid.get(), askedAgain.get(), sum());
    return new Result(paid.get(), askedAgain.get(), killed, longest, sum());
  }

  /**
   * Repeats each transfer until it is answered, or all is over: then it is stored as a whole, or
   * not at all.
   */
  private void pay(int payer) {
    var random = new Random();
    for (int i = 0; !end.get(); i++) {
      var from = purses.actor("p" + random.nextInt(PURSES));
      var pay = new Purses.Pay(payer + "-" + i, "p" + random.nextInt(PURSES), random.nextInt(100));
      boolean answered = isAnswered(() -> from.ask(pay, LIMIT));
      for (; !answered && !end.get(); answered = isAnswered(() -> from.ask(pay, LIMIT))) askedAgain.incrementAndGet();
      if (answered) paid.incrementAndGet();
    }
  }

  private static boolean isAnswered(Runnable asking) {
    try {
      asking.run();
      return true;
    } catch (RequestException | CancellationException again) {
      return false;
    }
  }

  /** How long it took until each purse had answered. */
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

  /** The patience begins again as long as the nodes work, since a busy machine delays them. */
  private void await(String what, BooleanSupplier fact) throws InterruptedException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    for (long worked = 0; !fact.getAsBoolean(); TimeUnit.MILLISECONDS.sleep(10)) {
      long now = nodes.stream().mapToLong(ThreeNodes::work).sum();
      if (now != worked) end = System.nanoTime() + PATIENCE.toNanos();
      else if (System.nanoTime() - end > 0) throw new IllegalStateException(what + ": it never came");
      worked = now;
    }
  }

  private static long work(Process node) {
    return node.info().totalCpuDuration().map(Duration::toMillis).orElse(0L);
  }

  @Override
  public void close() {
    end.set(true);
    nodes.forEach(Process::destroyForcibly);
    front.close();
    servers.forEach(NatsServer::close);
  }
}
