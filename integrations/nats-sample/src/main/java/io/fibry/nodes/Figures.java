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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Measures requests and messages to another process, beside the bare client of NATS. Both sides
 * take turns in one run; a ratio is that of a round, and the median of nine is shown.
 */
final class Figures implements AutoCloseable {
  private static final int WARM_UP = 3;
  private static final int ROUNDS = 9;
  private static final Duration ROUND = Duration.ofMillis(700);
  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final int TELLS = 100_000;
  private static final int BUSY = 10_164; // what a leader says
  private static final byte[] BODY = new byte[8];

  /** Does it once; which thread does it is told. */
  @FunctionalInterface
  private interface Act {
    void run(int thread) throws Exception;
  }

  /** {@return how often a second} */
  @FunctionalInterface
  private interface Side {
    double measure() throws Exception;
  }

  private final List<NatsServer> servers;
  private final String urls;
  private final Process there;
  private final Connection bare;
  private final JetStream stream;
  private final Cluster here;

  private Figures(List<NatsServer> servers) throws Exception {
    this.servers = servers;
    urls = servers.stream().map(NatsServer::url).collect(Collectors.joining(","));
    there = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
        System.getProperty("java.class.path"), "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", Echo.class.getName(),
        urls, Integer.toString(servers.size())).inheritIO().start();
    bare = Nats.connect(urls);
    bare.jetStreamManagement().addStream(StreamConfiguration.builder().name("BARE").subjects("turns.*")
        .storageType(StorageType.File).maxMessagesPerSubject(1).replicas(servers.size()).build());
    stream = bare.jetStream();
    here = join("here");
    while (here.members().stream().noneMatch(one -> one.hosts().contains("counter")))
      TimeUnit.MILLISECONDS.sleep(50);
  }

  private Cluster join(String name) {
    return Echo.join(urls, servers.size(), name);
  }

  public static void main(String[] args) throws Exception {
    if (NatsServer.find().isEmpty()) {
      System.err.println(NatsServer.HOW);
      System.exit(1);
    }
    System.out.println("| what | median | range | of |\n|---|--:|--:|---|");
    try (var figures = new Figures(List.of(NatsServer.start(Files.createTempDirectory("figures"))))) {
      figures.run();
    }
    try (var figures = new Figures(NatsServer.cluster(Files.createTempDirectory("figures"), 3))) {
      figures.durable();
    }
  }

  private void run() throws Exception {
    var named = here.actor("echo", Message.class);
    for (int threads : new int[] {1, 64, 1_024})
      compare("requests to a name, askers: " + threads, times(threads, thread -> named.ask(new Ask(thread))),
          "bare requests", times(threads, thread -> bare.requestWithTimeout("bare", BODY, LIMIT).get()));
    var entities = here.entities("echo", Message.class);
    compare("requests to 64 entities, an asker each", times(64, thread -> entity(entities, thread).ask(new Ask(1))),
        "bare requests", times(64, thread -> bare.requestWithTimeout("bare", BODY, LIMIT).get()));
    compare("messages to an entity", this::tells, "bare publishing", this::publishes);
    durable();
    local();
    moves(entities);
  }

  private void durable() throws Exception {
    var counters = here.entities(Echo.COUNTER);
    for (int threads : new int[] {1, 64}) {
      String among = ", servers: " + servers.size() + ", askers: " + threads;
      var asks = times(threads, thread -> counters.actor("c" + thread).ask(new Ask(1)));
      var stored = times(threads, thread -> bare.requestWithTimeout("store." + thread, BODY, LIMIT).get());
      var turns = turns(threads);
      compare("requests to durable actors" + among, asks, "bare messages to a stream, as turns expect them", turns);
      compare("bare requests whose answerer stores first" + among, stored, "the same", turns);
      compare("requests to durable actors" + among, asks, "bare requests whose answerer stores first", stored);
    }
  }

  private static Actor<Message> entity(Entities<String, Message> entities, int thread) {
    return entities.actor("k" + thread);
  }

  // ---- sides

  private static Side times(int threads, Act act) {
    return () -> {
      var done = new LongAdder();
      long begin = System.nanoTime();
      long end = begin + ROUND.toNanos();
      try (var fibers = Executors.newVirtualThreadPerTaskExecutor()) {
        var all = IntStream.range(0, threads).mapToObj(i -> fibers.submit(() -> {
          while (System.nanoTime() < end) {
            act.run(i);
            done.increment();
          }
          return null;
        })).toList();
        for (var one : all) one.get();
      }
      return done.sum() * 1e9 / (System.nanoTime() - begin);
    };
  }

  private double tells() {
    var entity = here.entities("echo", Message.class).actor("tells");
    var tell = new Tell("x".repeat(50));
    long begin = System.nanoTime();
    for (int i = 0; i < TELLS; i++) entity.sendMessage(tell);
    entity.ask(new Ask(1)); // all before it have been handled
    return TELLS * 1e9 / (System.nanoTime() - begin);
  }

  private double publishes() throws Exception {
    long begin = System.nanoTime();
    for (int i = 0; i < TELLS; i++) bare.publish("sink", Echo.TEXT);
    bare.flush(LIMIT);
    return TELLS * 1e9 / (System.nanoTime() - begin);
  }

  private Side turns(int threads) {
    var last = new AtomicLong[threads];
    Arrays.setAll(last, i -> new AtomicLong());
    return times(threads, thread -> last[thread].set(turn("turns." + threads + "-" + thread, last[thread].get())));
  }

  /** Until a leader of several servers is not busy with another one of the same subject. */
  private long turn(String subject, long last) throws Exception {
    while (true) {
      try {
        var options = PublishOptions.builder().expectedLastSubjectSequence(last).build();
        return stream.publish(subject, Echo.TEXT, options).getSeqno();
      } catch (JetStreamApiException busy) {
        if (busy.getApiErrorCode() != BUSY) throw busy;
      }
    }
  }

  /** Measures the cost of names, bytes and limits, without a network. */
  private static void local() throws Exception {
    var codec = Codec.of(Message.class);
    try (var alone = Cluster.local("alone"); var actor = ActorSystem.anonymous().newActor(Echo::handle)) {
      alone.expose("echo", Message.class, actor);
      var far = alone.actor("echo", Message.class);
      compare("requests within a process, by name", times(8, thread -> far.ask(new Ask(1))),
          "requests to the actor itself, whose messages become bytes and are read",
          times(8, thread -> actor.ask((Ask) codec.decode(codec.encode(new Ask(1))))));
    }
    try (var actor = ActorSystem.anonymous().newActor(Echo::handle)) {
      Side plain = times(8, thread -> actor.ask(new Ask(1)));
      compare("requests to an actor, while its process is a node", () -> {
        try (var node = Cluster.local("beside")) {
          Echo.host(node);
          return plain.measure();
        }
      }, "the same without a node", plain);
    }
  }

  /** Keys that are asked while another node comes and goes. */
  private void moves(Entities<String, Message> entities) throws Exception {
    var silences = new ArrayList<Double>();
    for (int i = 0; i < 2 * WARM_UP + ROUNDS; i++) {
      var end = new AtomicBoolean();
      var longest = new AtomicLong();
      try (var fibers = Executors.newVirtualThreadPerTaskExecutor()) {
        for (int n = 0; n < 16; n++) {
          var entity = entity(entities, n);
          fibers.submit(() -> {
            while (!end.get()) {
              long begin = System.nanoTime();
              entity.ask(new Ask(1));
              longest.accumulateAndGet(System.nanoTime() - begin, Math::max);
            }
          });
        }
        try (var other = join("other")) {
          Echo.host(other);
          while (other.health().partitions().get("echo") < 30) TimeUnit.MILLISECONDS.sleep(5);
        }
        end.set(true);
      }
      if (i >= 2 * WARM_UP) silences.add(longest.get() / 1e6);
    }
    var sorted = silences.stream().sorted().toList();
    System.out.printf("While half of 64 parts move to another node and back, with 16 askers, the longest wait of a "
        + "request: %.0f ms in the median of %d runs (%.0f..%.0f)%n", sorted.get(sorted.size() / 2), sorted.size(),
        sorted.getFirst(), sorted.getLast());
  }

  // ---- ratios

  private static void compare(String what, Side ours, String reference, Side theirs) throws Exception {
    for (int i = 0; i < WARM_UP; i++) {
      ours.measure();
      theirs.measure();
    }
    var ratios = new ArrayList<Double>();
    for (int i = 0; i < ROUNDS; i++) {
      boolean first = i % 2 == 0;
      double other = first ? 0 : theirs.measure();
      double mine = ours.measure();
      ratios.add(mine / (first ? theirs.measure() : other));
    }
    List<Double> sorted = ratios.stream().sorted().toList();
    System.out.printf("| %s | %.2f | %.2f..%.2f | %s |%n", what, sorted.get(sorted.size() / 2), sorted.getFirst(),
        sorted.getLast(), reference);
  }

  @Override
  public void close() {
    here.close();
    try {
      bare.close();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
    }
    there.destroyForcibly();
    servers.forEach(NatsServer::close);
  }
}
