package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Outcome;
import io.fibry.Request;
import io.fibry.cluster.Cluster.Member;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.codec.Codec;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requests that no node can answer any more, in time that the test moves. */
abstract class LostRequestsContract {
  record Job(int number) implements Request<Job, Integer> {}

  /** The entry of a node as older nodes write it. */
  static final class Old {
    record State(Member member, Map<String, String> ended) {}
  }

  private static final Duration LEASE = Duration.ofMinutes(10); // servers, whose time is the real one, forget no node
  private static final Duration PERIOD = LEASE.dividedBy(5); // of claims
  private static final Duration LIMIT = Duration.ofHours(10);
  private static final int MANY = 90;

  private final String app;
  private final TestNetwork network;
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("lost-test", options -> options.withScheduler(clock));
  private final List<Cluster> nodes = new ArrayList<>();
  private final ConcurrentLinkedQueue<CompletableFuture<Integer>> promised = new ConcurrentLinkedQueue<>();
  private final CountDownLatch gate = new CountDownLatch(1);
  private final AtomicInteger claims = new AtomicInteger(); // that came to the asker
  private final Set<String> claimed = ConcurrentHashMap.newKeySet(); // ids, by them

  LostRequestsContract(String app, TestNetwork network) {
    this.app = app;
    this.network = network;
  }

  @AfterEach
  void close() {
    gate.countDown();
    nodes.reversed().forEach(Cluster::close); // a home that is the last node need not wait for time to pass
    scope.close();
  }

  private Cluster join(String node) {
    nodes.add(Cluster.join(app, network,
        options -> options.withNode(node).withPartitions(4).withScope(scope).withLease(LEASE)
            .withWallClock(() -> Instant.EPOCH.plusNanos(clock.nanoTime()))));
    return nodes.getLast();
  }

  private Cluster asker() {
    var asker = join("asker");
    network.engine("asker").subscribe(new Subjects(app).ofKeepAlives("asker"), Optional.empty(),
        wire -> {
          claimed.addAll(RequestKeepAlive.ids(wire));
          claims.incrementAndGet();
        });
    return asker;
  }

  private void end(Cluster node) {
    network.end(node);
    nodes.remove(node);
  }

  /** One tick of the clocks of all nodes. */
  private void pass() {
    clock.advance(PERIOD);
    assertTrue(scope.awaitQuiescence(Patience.LONG));
  }

  /** Moves the clocks until the asker has heard of the requests that a living node has. */
  private void passWithClaims(int nodes) {
    int before = claims.get();
    pass();
    Patience.eventually(() -> claims.get() >= before + nodes);
  }

  private void promise(Job job, ActorContext<Job> context) {
    var answer = new CompletableFuture<Integer>();
    promised.add(answer);
    context.replyWhen(job, answer);
  }

  private void host(Cluster node) {
    node.host("worker", Job.class, scope.anonymous(), Duration.ofHours(100),
        (builder, key) -> builder.newActor(this::promise));
  }

  private List<CompletableFuture<Integer>> askEntities(Cluster asker) {
    var workers = asker.entities("worker", Job.class);
    return IntStream.range(0, MANY).mapToObj(i -> workers.actor("k" + i).sendMessageReturn(new Job(i), LIMIT)).toList();
  }

  private static long done(List<CompletableFuture<Integer>> answers) {
    return answers.stream().filter(CompletableFuture::isDone).count();
  }

  private static void checkLost(String text, List<CompletableFuture<Integer>> answers) {
    for (var answer : answers) {
      var failure = assertInstanceOf(UnreachableException.class, Patience.failure(answer));
      assertTrue(failure.getMessage().endsWith(text), failure.getMessage());
      assertEquals(Outcome.UNKNOWN, failure.outcome());
    }
  }

  @Test
  void requestsToKilledHostFailWithinItsLease() {
    var home = join("home");
    host(home);
    var answers = askEntities(asker());
    Patience.eventually(() -> promised.size() == MANY);

    passWithClaims(1);
    end(home);
    for (int i = 0; i < 3; i++) pass();
    assertEquals(0, done(answers)); // its lease is not over
    for (int i = 0; i < 2; i++) pass();

    checkLost(" has no answer, and node 'home', which had it, has not been heard of for 10 min: its node ended, or a "
        + "connection broke. It may have been handled", answers);
  }

  /** They never got there, or their home ended before its first claim. */
  @Test
  void unclaimedRequestsFailWithinOneLease() {
    var home = join("home");
    host(home);
    var asker = asker();
    var answers = askEntities(asker);
    Patience.eventually(() -> promised.size() == MANY);

    end(home);
    for (int i = 0; i < 5; i++) pass();

    checkLost(" has no answer, and no node has said for 10 min that it has it: its node ended, or a connection broke. "
        + "It may have been handled", answers);
  }

  @Test
  void requestsOfLivingNodesAreNotLost() {
    host(join("home"));
    var asker = asker();
    var desk = join("desk");
    desk.expose("clerk", Job.class, scope.anonymous().<Job>newActor(this::promise));
    var clerk = asker.actor("clerk", Job.class);
    var answers = new ArrayList<>(askEntities(asker));
    var others = IntStream.range(0, MANY).mapToObj(i -> clerk.sendMessageReturn(new Job(i), LIMIT)).toList();
    Patience.eventually(() -> promised.size() == 2 * MANY);

    passWithClaims(2);
    end(desk);
    for (int i = 0; i < 12; i++) passWithClaims(1);

    checkLost("It may have been handled", others);
    assertEquals(0, done(answers));
    promised.forEach(answer -> answer.complete(7));
    for (var answer : answers) assertEquals(7, Patience.value(answer));
  }

  /** Its mailbox is full, so the request waits before it: in the offer, or in the part. */
  @Test
  void requestsWaitingForRoomAreNotLost() {
    var home = join("home");
    Actor<Job> slow = scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK)).newActor(this::answerLater);
    home.expose("slow", Job.class, slow);
    home.host("slow-entity", Job.class, scope.anonymous(), Duration.ofHours(100),
        (builder, key) -> builder.mailbox(Mailbox.bounded(1, Overflow.BLOCK)).newActor(this::answerLater));
    var asker = asker();
    var answers = new ArrayList<CompletableFuture<Integer>>();
    for (var actor : List.of(asker.actor("slow", Job.class), asker.entities("slow-entity", Job.class).actor("k")))
      for (int i = 0; i < 10; i++) answers.add(actor.sendMessageReturn(new Job(i), LIMIT));
    Patience.eventually(() -> scope.report().queued() == answers.size() - 4); // two are handled, two wait for room
    passBusy();

    for (int i = 0; i < 12; i++) {
      claimed.clear();
      passBusy();
      Patience.eventually(() -> claimed.size() == answers.size());
    }

    assertEquals(0, done(answers));
    gate.countDown();
    for (int i = 0; i < answers.size(); i++) assertEquals(i % 10, Patience.value(answers.get(i)));
    Patience.eventually(() -> home.health().pendingRequests() == 0);
    claimed.clear();
    for (int i = 0; i < 3; i++) pass();
    assertEquals(Set.of(), claimed);
  }

  private void answerLater(Job job, ActorContext<Job> context) throws InterruptedException {
    gate.await();
    context.reply(job, job.number());
  }

  /**
   * Moves the clocks as {@link #pass} does, while handlers are busy. Waits for the heartbeats of
   * all nodes: without them, a node on a busy machine would lapse after five periods.
   */
  private void passBusy() {
    int before = claims.get();
    var heartbeats = heartbeats();
    clock.advance(PERIOD);
    Patience.eventually(() -> claims.get() > before);
    Patience.eventually(() -> heartbeats().entrySet().stream()
        .allMatch(node -> node.getValue() > heartbeats.get(node.getKey())));
  }

  /** {@return the versions of the entries of all nodes} */
  private Map<String, Long> heartbeats() {
    return nodes.stream().map(node -> node.self().name()).collect(Collectors.toMap(name -> name,
        name -> network.engine(name).get(new Subjects(app).nodeKeyPrefix() + name).orElseThrow().version()));
  }

  /** It waits for the next attempt, since its key has no home at the moment. */
  @Test
  void cancelledRequestIsNotResent() {
    var home = join("home");
    host(home);
    var subjects = new Subjects(app);
    var worker = asker().entities("worker", Job.class).actor("k");
    network.engine("home").close(); // which nobody else knows so far
    nodes.remove(home);
    var heard = new AtomicInteger();
    var takenBack = new CountDownLatch(1);
    try (var engine = network.connect(app, "spy")) {
      Patience.eventually(() -> hasNoHome(engine, subjects.ofPartition("worker", 0)));
      var answer = worker.sendMessageReturn(new Job(1), LIMIT);
      assertTrue(scope.awaitQuiescence(Patience.LONG));
      Patience.eventually(() -> clock.untilNext().filter(next -> next.toMillis() <= 2).isPresent());
      engine.subscribe(subjects.ofCancellations(), Optional.empty(), wire -> takenBack.countDown());
      assertTrue(answer.cancel(false));
      Patience.eventually(() -> takenBack.getCount() == 0);
      for (int i = 0; i < 4; i++)
        engine.subscribe(subjects.ofPartition("worker", i), Optional.empty(), wire -> heard.incrementAndGet());

      for (int i = 0; i < 20; i++) {
        clock.advance(Duration.ofMillis(100));
        assertTrue(scope.awaitQuiescence(Patience.LONG));
      }
    }
    assertEquals(0, heard.get());
  }

  private static boolean hasNoHome(ClusterTransport engine, String part) {
    var answer =
        engine.request(WireMessage.to(part, Map.of(), new byte[0]), Duration.ofSeconds(1)).toCompletableFuture();
    return Patience.failure(answer) instanceof TransportException lost
        && lost.failure() == TransportException.Failure.NO_RECEIVER;
  }

  /** Silence of a node says nothing if nodes of its version claim nothing. */
  @Test
  void requestsAreNotLostWhileOlderNodeIsMember() {
    var home = join("home");
    host(home);
    var asker = asker();
    var answers = askEntities(asker);
    Patience.eventually(() -> promised.size() == MANY);
    var older = new Member("older", "life", Set.of(), Set.of(), Instant.EPOCH);
    String key = new Subjects(app).keyOfNode("older");
    try (var engine = network.connect(app, "older")) {
      byte[] entry = Codec.of(Old.State.class).encode(new Old.State(older, Map.of()));
      var version = engine.create(key, entry, LEASE);
      Patience.eventually(() -> asker.members().contains(older));
      end(home);

      for (int i = 0; i < 12; i++) {
        version = engine.update(key, entry, version.orElseThrow(), LEASE); // its heartbeat
        pass();
      }
      assertEquals(0, done(answers));
      for (int i = 0; asker.members().contains(older); i++) { // it sends no more heartbeats
        assertTrue(i < 20, "it is still a member");
        pass();
      }
      for (int i = 0; i < 5; i++) pass();

      checkLost("It may have been handled", answers);
    }
  }
}
