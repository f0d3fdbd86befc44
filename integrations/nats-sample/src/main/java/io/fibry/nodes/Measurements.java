package io.fibry.nodes;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.cluster.Cluster;
import io.fibry.codec.Codec;
import io.fibry.nodes.Echo.Ask;
import io.fibry.nodes.Echo.Message;
import io.fibry.nodes.Echo.Tell;
import io.fibry.pool.Entities;
import io.fibry.test.NatsServer;
import io.nats.client.Connection;
import io.nats.client.JetStream;
import io.nats.client.JetStreamApiException;
import io.nats.client.Nats;
import io.nats.client.PublishOptions;
import io.nats.client.api.StorageType;
import io.nats.client.api.StreamConfiguration;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Measures requests and messages to another process, and compares them with the plain client of
 * NATS. The program also compares calls inside one process, and measures how long requests wait
 * while partitions move. A comparison measures its two sides alternately, and shows the median of
 * nine ratios.
 */
final class Measurements implements AutoCloseable {
  private static final int WARM_UP = Integer.getInteger("warm", 3);
  private static final int ROUNDS = Integer.getInteger("rounds", 9);
  private static final Duration ROUND_TIME = Duration.ofMillis(700);
  private static final Duration ASK_LIMIT = Duration.ofSeconds(10);
  private static final int MESSAGES = 100_000;
  private static final int SUBJECT_BUSY = 10_164; // error code: another message to the subject is being stored
  private static final byte[] BODY = new byte[8];

  /** An operation that each thread repeats. It gets the index of its thread. */
  @FunctionalInterface
  private interface Operation {
    void run(int thread) throws Exception;
  }

  /** A side of a comparison. Returns its operations per second. */
  @FunctionalInterface
  private interface Side {
    double measure() throws Exception;
  }

  private final List<NatsServer> servers;
  private final String urls;
  private final Process remoteProcess;
  private final Connection client;
  private final JetStream stream;
  private final Cluster node;

  private Measurements(List<NatsServer> servers) throws Exception {
    this.servers = servers;
    urls = servers.stream().map(NatsServer::url).collect(Collectors.joining(","));
    remoteProcess = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
        System.getProperty("java.class.path"), "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", Echo.class.getName(),
        urls, Integer.toString(servers.size())).inheritIO().start();
    client = Nats.connect(urls);
    client.jetStreamManagement().addStream(StreamConfiguration.builder().name("BARE").subjects("turns.*")
        .storageType(StorageType.File).maxMessagesPerSubject(1).replicas(servers.size()).build());
    stream = client.jetStream();
    node = join("here");
    while (node.members().stream().noneMatch(member -> member.hosts().contains("counter")))
      TimeUnit.MILLISECONDS.sleep(50);
  }

  private Cluster join(String name) {
    return Echo.join(urls, servers.size(), name);
  }

  public static void main(String[] args) throws Exception {
    if (NatsServer.find().isEmpty()) {
      System.err.println(NatsServer.INSTALL_HINT);
      System.exit(1);
    }
    System.out.println("| measured | median ratio | range | compared with |\n|---|--:|--:|---|");
    try (var measurements = new Measurements(List.of(NatsServer.start(Files.createTempDirectory("measurements"))))) {
      measurements.run();
    }
    try (var measurements = new Measurements(NatsServer.cluster(Files.createTempDirectory("measurements"), 3))) {
      measurements.durable();
    }
  }

  private void run() throws Exception {
    var named = node.actor("echo", Message.class);
    for (int threads : new int[] {1, 64, 1_024})
      compare("requests to a name, askers: " + threads, rateOf(threads, thread -> named.ask(new Ask(thread))),
          "bare requests", rateOf(threads, thread -> client.requestWithTimeout("bare", BODY, ASK_LIMIT).get()));
    var entities = node.entities("echo", Message.class);
    compare("requests to 64 entities, an asker each", rateOf(64, thread -> entity(entities, thread).ask(new Ask(1))),
        "bare requests", rateOf(64, thread -> client.requestWithTimeout("bare", BODY, ASK_LIMIT).get()));
    compare("messages to an entity", this::tellRate, "bare publishing", this::publishRate);
    String bundlesText = "bare bundles: messages serialized, acknowledged, deserialized and queued";
    compare(bundlesText, this::bundleRate, "bare publishing", this::publishRate);
    compare("messages to an entity", this::tellRate, bundlesText, this::bundleRate);
    durable();
    measureWithoutNetwork();
    measureMoves(entities);
  }

  private void durable() throws Exception {
    var counters = node.entities(Echo.COUNTER);
    for (int threads : new int[] {1, 64}) {
      String setting = ", servers: " + servers.size() + ", askers: " + threads;
      var asks = rateOf(threads, thread -> counters.actor("c" + thread).ask(new Ask(1)));
      var stored = rateOf(threads, thread -> client.requestWithTimeout("store." + thread, BODY, ASK_LIMIT).get());
      var turns = turns(threads);
      String turnsText = "bare messages to a stream, each with the expected last number";
      compare("requests to durable actors" + setting, asks, turnsText, turns);
      compare("bare requests, a message stored before the answer" + setting, stored, turnsText, turns);
      compare("requests to durable actors" + setting, asks, "bare requests, a message stored before the answer",
          stored);
    }
  }

  private static Actor<Message> entity(Entities<String, Message> entities, int thread) {
    return entities.actor("k" + thread);
  }

  // ---- measurements

  private static Side rateOf(int threads, Operation operation) {
    return () -> {
      var count = new LongAdder();
      long start = System.nanoTime();
      long deadline = start + ROUND_TIME.toNanos();
      try (var fibers = Executors.newVirtualThreadPerTaskExecutor()) {
        var loops = IntStream.range(0, threads).mapToObj(i -> fibers.submit(() -> {
          while (System.nanoTime() < deadline) {
            operation.run(i);
            count.increment();
          }
          return null;
        })).toList();
        for (var loop : loops) loop.get();
      }
      return count.sum() * 1e9 / (System.nanoTime() - start);
    };
  }

  private double tellRate() {
    var entity = node.entities("echo", Message.class).actor("tells");
    var message = new Tell("x".repeat(50));
    long begin = System.nanoTime();
    for (int i = 0; i < MESSAGES; i++) entity.sendMessage(message);
    entity.ask(new Ask(1)); // all earlier messages were handled
    return MESSAGES * 1e9 / (System.nanoTime() - begin);
  }

  private double bundleRate() throws Exception {
    long begin = System.nanoTime();
    BareSteps.sendBundles(client, new Tell("x".repeat(50)), MESSAGES, ASK_LIMIT);
    return MESSAGES * 1e9 / (System.nanoTime() - begin);
  }

  private double publishRate() throws Exception {
    long begin = System.nanoTime();
    for (int i = 0; i < MESSAGES; i++) client.publish("sink", Echo.TEXT);
    client.flush(ASK_LIMIT);
    return MESSAGES * 1e9 / (System.nanoTime() - begin);
  }

  private Side turns(int threads) {
    var lastNumbers = new AtomicLong[threads];
    Arrays.setAll(lastNumbers, i -> new AtomicLong());
    return rateOf(threads,
        thread -> lastNumbers[thread].set(turn("turns." + threads + "-" + thread, lastNumbers[thread].get())));
  }

  /**
   * Stores a message if the last message of the subject has the given number. Tries again while the
   * server is storing another message of the subject.
   */
  private long turn(String subject, long lastNumber) throws Exception {
    while (true) {
      try {
        var options = PublishOptions.builder().expectedLastSubjectSequence(lastNumber).build();
        return stream.publish(subject, Echo.TEXT, options).getSeqno();
      } catch (JetStreamApiException refusal) {
        if (refusal.getApiErrorCode() != SUBJECT_BUSY) throw refusal;
      }
    }
  }

  /**
   * Measures, without a network, what a call by name costs, and what being a node costs the other
   * actors of the process.
   */
  private static void measureWithoutNetwork() throws Exception {
    var codec = Codec.of(Message.class);
    try (var cluster = Cluster.local("alone");
        var actor = ActorSystem.anonymous().newActor(Echo::handle)) {
      cluster.expose("echo", Message.class, actor);
      var actorByName = cluster.actor("echo", Message.class);
      var relay = new BareSteps.Relay();
      var named = rateOf(8, thread -> actorByName.ask(new Ask(1)));
      var direct = rateOf(8, thread -> actor.ask((Ask) codec.decode(codec.encode(new Ask(1)))));
      var relayed = rateOf(8, thread -> relay.ask(new Ask(1)));
      String directText = "requests to the actor itself, with each message encoded and decoded";
      String relayText = "queues of two threads, with messages and answers encoded and decoded";
      compare("requests within a process, by name", named, directText, direct);
      compare(relayText, relayed, directText, direct);
      compare("requests within a process, by name", named, relayText, relayed);
    }
    try (var actor = ActorSystem.anonymous().newActor(Echo::handle)) {
      Side plain = rateOf(8, thread -> actor.ask(new Ask(1)));
      compare("requests to an actor, while its process is a node", () -> {
        try (var otherCluster = Cluster.local("beside")) {
          Echo.host(otherCluster);
          return plain.measure();
        }
      }, "requests to an actor, without a node", plain);
    }
  }

  /** Measures the longest wait of requests to entities while another node joins and leaves. */
  private void measureMoves(Entities<String, Message> entities) throws Exception {
    var longestWaits = new ArrayList<Double>();
    for (int i = 0; i < 2 * WARM_UP + ROUNDS; i++) {
      var isEnded = new AtomicBoolean();
      var longestWait = new AtomicLong();
      var askers = new ArrayList<Future<Void>>();
      try (var fibers = Executors.newVirtualThreadPerTaskExecutor()) {
        for (int key = 0; key < 16; key++) {
          var entity = entity(entities, key);
          askers.add(fibers.submit(() -> {
            while (!isEnded.get()) {
              long begin = System.nanoTime();
              entity.ask(new Ask(1));
              longestWait.accumulateAndGet(System.nanoTime() - begin, Math::max);
            }
            return null;
          }));
        }
        try (var otherNode = join("other")) {
          Echo.host(otherNode);
          while (otherNode.health().partitions().get("echo") < 30) TimeUnit.MILLISECONDS.sleep(5);
        } finally {
          isEnded.set(true); // also after a failure, because the close of `fibers` waits for the askers
        }
        for (var asker : askers) asker.get(); // throws if a request failed
      }
      if (i >= 2 * WARM_UP) longestWaits.add(longestWait.get() / 1e6);
    }
    var sorted = longestWaits.stream().sorted().toList();
    System.out.printf("While 30 of 64 partitions move to another node and back, with 16 askers, the longest wait of a "
        + "request: %.0f ms in the median of %d runs (%.0f..%.0f)%n", sorted.get(sorted.size() / 2), sorted.size(),
        sorted.getFirst(), sorted.getLast());
  }

  // ---- ratios

  private static void compare(String name, Side measured, String reference, Side referenceSide) throws Exception {
    for (int i = 0; i < WARM_UP; i++) {
      measured.measure();
      referenceSide.measure();
    }
    var ratios = new ArrayList<Double>();
    for (int i = 0; i < ROUNDS; i++) {
      boolean isReferenceLast = i % 2 == 0;
      double referenceRate = isReferenceLast ? 0 : referenceSide.measure();
      double rate = measured.measure();
      ratios.add(rate / (isReferenceLast ? referenceSide.measure() : referenceRate));
    }
    List<Double> sorted = ratios.stream().sorted().toList();
    System.out.printf("| %s | %.2f | %.2f..%.2f | %s |%n", name, sorted.get(sorted.size() / 2), sorted.getFirst(),
        sorted.getLast(), reference);
  }

  @Override
  public void close() {
    node.close();
    try {
      client.close();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
    }
    remoteProcess.destroyForcibly();
    servers.forEach(NatsServer::close);
  }
}
