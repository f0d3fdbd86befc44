package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.RequestOutcome;
import io.fibry.cluster.Cluster.Member;
import io.fibry.cluster.remote.RequestKeepAlive;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.cluster.wire.Subjects;
import io.fibry.codec.Codec;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Intercepted;
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
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests how requests fail when no node can answer them any more. Each node sends keep-alives at
 * intervals, which confirm to an asker that the node has its requests. The tests advance the
 * clocks of all nodes.
 */
abstract class LostRequestsContract {
  record Job(int number) implements Request<Job, Integer> {}

  /** The entry of a node in the form that older versions of the library write. */
  static final class OldVersion {
    record State(Member member, Map<String, String> ended) {}
  }

  private static final Duration LEASE = Duration.ofMinutes(10); // long, because servers use the real time
  private static final Duration KEEP_ALIVE_INTERVAL = LEASE.dividedBy(5);
  private static final Duration LIMIT = Duration.ofHours(10);
  private static final int REQUESTS = 90;

  private final String app;
  private final TestNetwork network;
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("lost-test", options -> options.withScheduler(clock));
  private final List<Cluster> nodes = new ArrayList<>();
  private final ConcurrentLinkedQueue<CompletableFuture<Integer>> promises = new ConcurrentLinkedQueue<>();
  private final CountDownLatch gate = new CountDownLatch(1);
  private final AtomicInteger keepAlives = new AtomicInteger(); // received by the asker
  private final Set<String> confirmedIds = ConcurrentHashMap.newKeySet(); // of requests in keep-alives

  LostRequestsContract(String app, TestNetwork network) {
    this.app = app;
    this.network = network;
  }

  @AfterEach
  void close() {
    gate.countDown();
    nodes.reversed().forEach(Cluster::close); // the node that joined first closes last, and waits for no other node
    scope.close();
  }

  private Cluster join(String node) {
    return join(node, network);
  }

  private Cluster join(String node, ClusterNetwork network) {
    nodes.add(Cluster.join(app, network,
        options -> options.withNode(node).withPartitions(4).withScope(scope).withLease(LEASE)));
    return nodes.getLast();
  }

  private Cluster asker() {
    return join("asker", (name, node) -> countingKeepAlives(network.connect(name, node)));
  }

  /** Counts each keep-alive after the reader of the node has handled it. */
  private ClusterTransport countingKeepAlives(ClusterTransport transport) {
    return Intercepted.of(ClusterTransport.class, transport, (method, arguments, call) -> {
      if (method.getName().equals("subscribe") && arguments[0].equals(new Subjects(app).ofKeepAlives("asker"))) {
        @SuppressWarnings("unchecked") // the type that `subscribe` declares
        var reader = (Consumer<WireMessage>) arguments[2];
        arguments[2] = (Consumer<WireMessage>) wire -> {
          reader.accept(wire);
          confirmedIds.addAll(RequestKeepAlive.ids(wire));
          keepAlives.incrementAndGet();
        };
      }
      return call.pass();
    });
  }

  private void crash(Cluster node) {
    network.crash(node);
    nodes.remove(node);
  }

  /** Moves the clocks of all nodes by the interval between keep-alives. */
  private void passTime() {
    clock.advance(KEEP_ALIVE_INTERVAL);
    assertTrue(scope.awaitQuiescence(Patience.LONG));
  }

  /** Moves the clocks, and waits until the asker has received a keep-alive of each living node. */
  private void passTimeWithKeepAlives(int livingNodes) {
    int keepAlivesBefore = keepAlives.get();
    passTime();
    Patience.eventually(() -> keepAlives.get() >= keepAlivesBefore + livingNodes);
  }

  private void promise(Job job, ActorContext<Job> context) {
    var answer = new CompletableFuture<Integer>();
    promises.add(answer);
    context.replyWhen(job, answer);
  }

  private void host(Cluster node) {
    node.host("worker", Job.class, scope.anonymous(), Duration.ofHours(100),
        (builder, key) -> builder.newActor(this::promise));
  }

  private List<CompletableFuture<Integer>> askEntities(Cluster asker) {
    var workers = asker.entities("worker", Job.class);
    return IntStream.range(0, REQUESTS)
        .mapToObj(i -> workers.actor("k" + i).sendMessageReturn(new Job(i), LIMIT)).toList();
  }

  private static long countDone(List<CompletableFuture<Integer>> answers) {
    return answers.stream().filter(CompletableFuture::isDone).count();
  }

  private static void checkLost(String text, List<CompletableFuture<Integer>> answers) {
    for (var answer : answers) {
      var failure = assertInstanceOf(UnavailableException.class, Patience.failure(answer));
      assertTrue(failure.getMessage().endsWith(text), failure.getMessage());
      assertEquals(RequestOutcome.UNKNOWN, failure.outcome());
    }
  }

  @Test
  void requestsToKilledHostFailWhenItsLeaseExpires() {
    var owner = join("home");
    host(owner);
    var answers = askEntities(asker());
    Patience.eventually(() -> promises.size() == REQUESTS);

    passTimeWithKeepAlives(1);
    crash(owner);
    for (int i = 0; i < 3; i++) passTime();
    assertEquals(0, countDone(answers)); // the lease of the owner has not expired
    for (int i = 0; i < 2; i++) passTime();

    checkLost(" has no answer, and node 'home', which had it, has not confirmed that for 10 min: a node ended, a "
        + "connection broke, or a message was lost. It may have been handled", answers);
  }

  /** The owner crashes before its first keep-alive, as if no request had reached it. */
  @Test
  void requestsWithoutKeepAliveFailWithinOneLease() {
    var owner = join("home");
    host(owner);
    var asker = asker();
    var answers = askEntities(asker);
    Patience.eventually(() -> promises.size() == REQUESTS);

    crash(owner);
    for (int i = 0; i < 5; i++) passTime();

    checkLost(" has no answer, and no node has confirmed for 10 min that it has the request: a node ended, a "
        + "connection broke, or a message was lost. It may have been handled", answers);
  }

  @Test
  void requestIsNotReportedLostWhileItsNodeSendsKeepAlives() {
    host(join("home"));
    var asker = asker();
    var desk = join("desk");
    desk.expose("clerk", Job.class, scope.anonymous().<Job>newActor(this::promise));
    var clerk = asker.actor("clerk", Job.class);
    var answers = new ArrayList<>(askEntities(asker));
    var answersOfClerk = IntStream.range(0, REQUESTS)
        .mapToObj(i -> clerk.sendMessageReturn(new Job(i), LIMIT)).toList();
    Patience.eventually(() -> promises.size() == 2 * REQUESTS);

    passTimeWithKeepAlives(2);
    crash(desk);
    for (int i = 0; i < 12; i++) passTimeWithKeepAlives(1);

    checkLost("It may have been handled", answersOfClerk);
    assertEquals(0, countDone(answers));
    promises.forEach(answer -> answer.complete(7));
    for (var answer : answers) assertEquals(7, Patience.value(answer));
  }

  /** The mailboxes are full, so most requests wait at the owner's node, outside the mailboxes. */
  @Test
  void requestsWaitingForCapacityAreNotReportedLost() {
    var owner = join("home");
    Actor<Job> slowActor = scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK)).newActor(this::answerLater);
    owner.expose("slow", Job.class, slowActor);
    owner.host("slow-entity", Job.class, scope.anonymous(), Duration.ofHours(100),
        (builder, key) -> builder.mailbox(Mailbox.bounded(1, Overflow.BLOCK)).newActor(this::answerLater));
    var asker = asker();
    var answers = new ArrayList<CompletableFuture<Integer>>();
    for (var actor : List.of(asker.actor("slow", Job.class), asker.entities("slow-entity", Job.class).actor("k")))
      for (int i = 0; i < 10; i++) answers.add(actor.sendMessageReturn(new Job(i), LIMIT));
    // not counted: two requests that are being handled, and two that wait for capacity in a mailbox
    Patience.eventually(() -> scope.report().queued() == answers.size() - 4);
    passTimeWhileBusy();

    for (int i = 0; i < 12; i++) {
      confirmedIds.clear();
      passTimeWhileBusy();
      Patience.eventually(() -> confirmedIds.size() == answers.size());
    }

    assertEquals(0, countDone(answers));
    gate.countDown();
    for (int i = 0; i < answers.size(); i++) assertEquals(i % 10, Patience.value(answers.get(i)));
    Patience.eventually(() -> owner.health().pendingRequests() == 0);
    confirmedIds.clear();
    for (int i = 0; i < 3; i++) passTime();
    assertEquals(Set.of(), confirmedIds);
  }

  private void answerLater(Job job, ActorContext<Job> context) throws InterruptedException {
    gate.await();
    context.reply(job, job.number());
  }

  /**
   * Moves the clocks like {@link #passTime}, while handlers are busy. Waits for the heartbeats of
   * all nodes, because a node without heartbeats would lose its lease after five intervals.
   */
  private void passTimeWhileBusy() {
    int keepAlivesBefore = keepAlives.get();
    var heartbeats = heartbeats();
    clock.advance(KEEP_ALIVE_INTERVAL);
    Patience.eventually(() -> keepAlives.get() > keepAlivesBefore);
    Patience.eventually(() -> heartbeats().entrySet().stream()
        .allMatch(node -> node.getValue() > heartbeats.get(node.getKey())));
  }

  /** {@return the versions of the entries of all nodes; each heartbeat increases a version} */
  private Map<String, Long> heartbeats() {
    return nodes.stream().map(node -> node.self().name()).collect(Collectors.toMap(name -> name,
        name -> network.transport(name).get(new Subjects(app).nodeKeyPrefix() + name).orElseThrow().version()));
  }

  /**
   * The key of a request has no owner, so the request waits for its next attempt. The test cancels
   * the request while it waits.
   */
  @Test
  void cancelledRequestIsNotResent() {
    var owner = join("home");
    host(owner);
    var subjects = new Subjects(app);
    var worker = asker().entities("worker", Job.class).actor("k");
    network.transport("home").close(); // the asker does not know yet that this node is disconnected
    nodes.remove(owner);
    var receivedRequests = new AtomicInteger();
    var cancellation = new CountDownLatch(1);
    try (var transport = network.connect(app, "spy")) {
      Patience.eventually(() -> hasNoOwner(transport, subjects.ofPartition("worker", 0)));
      var answer = worker.sendMessageReturn(new Job(1), LIMIT);
      assertTrue(scope.awaitQuiescence(Patience.LONG));
      Patience.eventually(() -> clock.untilNext().filter(next -> next.toMillis() <= 2).isPresent());
      transport.subscribe(subjects.ofCancellations(), Optional.empty(), wire -> cancellation.countDown());
      assertTrue(answer.cancel(false));
      Patience.eventually(() -> cancellation.getCount() == 0);
      for (int i = 0; i < 4; i++)
        transport.subscribe(subjects.ofPartition("worker", i), Optional.empty(),
            wire -> receivedRequests.incrementAndGet());

      for (int i = 0; i < 20; i++) {
        clock.advance(Duration.ofMillis(100));
        assertTrue(scope.awaitQuiescence(Patience.LONG));
      }
    }
    assertEquals(0, receivedRequests.get());
  }

  private static boolean hasNoOwner(ClusterTransport transport, String subject) {
    var answer =
        transport.request(WireMessage.oneWay(subject, Map.of(), new byte[0]), Duration.ofSeconds(1))
            .toCompletableFuture();
    return Patience.failure(answer) instanceof TransportException failure
        && failure.failure() == TransportException.Failure.NO_RECEIVER;
  }

  /** Older nodes send no keep-alives, so a request without keep-alives may be at an older node. */
  @Test
  void requestsAreNotReportedLostWhileOlderNodeIsMember() {
    var owner = join("home");
    host(owner);
    var asker = asker();
    var answers = askEntities(asker);
    Patience.eventually(() -> promises.size() == REQUESTS);
    var olderNode = new Member("older", "life", Set.of(), Set.of(), Instant.EPOCH);
    String key = new Subjects(app).keyOfNode("older");
    try (var transport = network.connect(app, "older")) {
      byte[] entry = Codec.of(OldVersion.State.class).encode(new OldVersion.State(olderNode, Map.of()));
      var version = transport.create(key, entry, LEASE);
      Patience.eventually(() -> asker.members().contains(olderNode));
      crash(owner);

      for (int i = 0; i < 12; i++) {
        version = transport.update(key, entry, version.orElseThrow(), LEASE); // the heartbeat of the older node
        passTime();
      }
      assertEquals(0, countDone(answers));
      for (int i = 0; asker.members().contains(olderNode); i++) { // the older node sends no more heartbeats
        assertTrue(i < 20, "the older node is still a member");
        passTime();
      }
      for (int i = 0; i < 5; i++) passTime();

      checkLost("It may have been handled", answers);
    }
  }
}
