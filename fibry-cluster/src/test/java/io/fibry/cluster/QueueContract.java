package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Exitable;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.durable.Idempotent;
import io.fibry.support.Patience;
import io.fibry.support.UnreadableException;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests queues of work that several nodes share. */
abstract class QueueContract {
  record Mail(String address) {}

  record Bill(String idempotencyKey, int cents) implements Idempotent {}

  record Letter(List<String> pages) {}

  final String app;
  private final TestNetwork network;
  private final ActorScope scope = ActorSystem.openScope("queue-test");
  private final List<Cluster> nodes = new ArrayList<>();
  private final Semaphore gate = new Semaphore(0);
  private final Map<String, LongAdder> starts = new ConcurrentHashMap<>(); // number of starts, by address
  private final Queue<String> sentMails = new ConcurrentLinkedQueue<>();
  private final Cluster a;
  private final Cluster b;

  QueueContract(String app, TestNetwork network) {
    this.app = app;
    this.network = network;
    a = join("a");
    b = join("b");
  }

  private Cluster join(String node) {
    nodes.add(Cluster.join(app, network, options -> options.withNode(node).withScope(scope)));
    return nodes.getLast();
  }

  private void crash(Cluster node) {
    network.crash(node);
    nodes.remove(node);
  }

  /** Makes the network redeliver the unfinished work of a crashed node at once. */
  void redeliverUnfinishedWork(String queue) throws Exception {}

  @AfterEach
  void close() {
    gate.release(1_000);
    nodes.forEach(Cluster::close);
    scope.close();
  }

  private static WorkQueue<Mail> mails(Cluster node) {
    return node.queue("mails", Mail.class);
  }

  /** Returns options with short pauses between attempts. */
  private static UnaryOperator<WorkQueue.Options> attempts(int max) {
    return options -> options.withMaxAttempts(max).withBackoff(Duration.ofMillis(20), Duration.ofMillis(100));
  }

  private void send(Mail mail) throws InterruptedException {
    starts.computeIfAbsent(mail.address(), address -> new LongAdder()).increment();
    if (mail.address().startsWith("slow")) gate.acquire();
    if (mail.address().startsWith("bad")) throw new IllegalStateException("no such address");
    sentMails.add(mail.address());
  }

  private long starts(String mail) {
    var count = starts.get(mail);
    return count == null ? 0 : count.sum();
  }

  private void awaitSent(String... mails) {
    Patience.eventually(() -> sentMails.size() >= mails.length);
    assertEquals(List.of(mails).stream().sorted().toList(), sentMails.stream().sorted().toList());
  }

  // ---- work

  @Test
  void workSharedByTwoNodesIsDoneOnce() {
    var nodeOfMail = new ConcurrentHashMap<String, String>(); // by address
    var duplicates = new LongAdder();
    var bothHaveWork = new CountDownLatch(2); // each node waits until the other has mails, too
    for (var node : List.of(a, b)) {
      var isFirst = new AtomicBoolean(true);
      mails(node).consume(4, mail -> {
        if (isFirst.getAndSet(false)) bothHaveWork.countDown();
        Patience.await(bothHaveWork);
        if (nodeOfMail.put(mail.address(), node.self().name()) != null) duplicates.increment();
      });
    }

    IntStream.range(0, 400).parallel().forEach(i -> mails(a).put(new Mail("m" + i)));

    Patience.eventually(() -> nodeOfMail.size() == 400 && mails(b).size() == 0);
    assertEquals(0, duplicates.sum());
    assertEquals(2, nodeOfMail.values().stream().distinct().count());
  }

  @Test
  void workWaitsUntilConsumerStarts() {
    var producer = join("early");
    mails(producer).put(new Mail("ada"));
    mails(producer).put(new Mail("bob"));
    producer.close();

    assertEquals(2, mails(a).size());
    mails(b).consume(1, this::send);

    awaitSent("ada", "bob");
    assertEquals(List.of("ada", "bob"), List.copyOf(sentMails)); // one worker sends one mail after another
    Patience.eventually(() -> mails(a).size() == 0);
  }

  @Test
  void consumerRunsAtMostMaxParallelWorkAtOnce() {
    var running = new AtomicInteger();
    var maxRunning = new AtomicInteger();
    mails(a).consume(3, mail -> {
      maxRunning.accumulateAndGet(running.incrementAndGet(), Math::max);
      gate.acquire();
      running.decrementAndGet();
      sentMails.add(mail.address());
    });

    for (int i = 0; i < 20; i++) mails(b).put(new Mail("m" + i));

    Patience.eventually(() -> running.get() == 3);
    gate.release(20);
    Patience.eventually(() -> sentMails.size() == 20);
    assertEquals(3, maxRunning.get());
  }

  @Test
  void workWithSameIdIsStoredOnce() {
    var bills = a.queue("bills", Bill.class);
    bills.put(new Bill("b 1/ü", 100));
    b.queue("bills", Bill.class).put(new Bill("b 1/ü", 100));
    bills.put(new Bill("b 2", 100));
    bills.put(new Bill("b 1/ü", 100));
    a.queue("other-bills", Bill.class).put(new Bill("b 1/ü", 100)); // each queue has its own ids

    assertEquals(2, bills.size());
    assertEquals(1, a.queue("other-bills", Bill.class).size());
    mails(a).put(new Mail("ada"));
    mails(a).put(new Mail("ada"));
    assertEquals(2, mails(b).size());
  }

  // ---- failures

  @Test
  void failedWorkIsRetried() {
    var times = new AtomicInteger();
    mails(a).consume(attempts(3), mail -> {
      if (times.incrementAndGet() < 3) throw new IllegalStateException("not yet");
      sentMails.add(mail.address());
    });

    mails(b).put(new Mail("ada"));

    awaitSent("ada");
    Patience.eventually(() -> mails(a).size() == 0);
    assertEquals(3, times.get());
    assertEquals(List.of(), mails(a).parked(10));
  }

  @Test
  void workIsParkedWhenEachAttemptThrowsError() {
    mails(a).consume(attempts(2), mail -> {
      throw new StackOverflowError("made up");
    });

    mails(b).put(new Mail("ada"));

    Patience.eventually(() -> mails(b).parked(10).size() == 1);
    assertEquals("java.lang.StackOverflowError: made up", mails(b).parked(10).getFirst().reason());
  }

  /** If the log line of the failure threw, neither this node nor another would try again. */
  @Test
  void workWithUnreadableFailureIsRetriedAndParked() {
    mails(a).consume(attempts(2), mail -> {
      throw new UnreadableException();
    });

    mails(b).put(new Mail("ada"));

    Patience.eventually(() -> mails(b).parked(10).size() == 1);
    assertEquals(2, mails(b).parked(10).getFirst().attempts());
    assertTrue(mails(b).parked(10).getFirst().reason().contains("UnreadableException"));
  }

  @Test
  void repeatedlyFailingWorkIsParkedAndCanBeRetried() {
    var consumer = mails(a).consume(attempts(3), this::send);
    mails(b).put(new Mail("bad"));
    mails(b).put(new Mail("worse-than-bad"));

    Patience.eventually(() -> mails(b).parked(10).size() == 1 && mails(b).size() == 0);
    var parkedMail = mails(b).parked(10).getFirst();
    assertEquals(Optional.of(new Mail("bad")), parkedMail.work());
    assertEquals(3, parkedMail.attempts());
    assertEquals("java.lang.IllegalStateException: no such address", parkedMail.reason());
    assertEquals(3, starts("bad"));
    awaitSent("worse-than-bad");

    consumer.close();
    assertTrue(mails(a).retry(parkedMail));
    assertFalse(mails(b).retry(parkedMail));
    assertFalse(mails(b).discard(parkedMail));
    assertEquals(1, mails(b).size());
    mails(b).consume(1, mail -> sentMails.add(mail.address()));
    awaitSent("bad", "worse-than-bad");
    assertEquals(List.of(), mails(b).parked(10));
  }

  @Test
  void parkedWorkIsListedUntilItIsDiscarded() {
    mails(a).consume(attempts(1).andThen(options -> options.withMaxParallel(8))::apply, this::send);
    for (int i = 0; i < 30; i++) mails(b).put(new Mail("bad" + i));

    Patience.eventually(() -> mails(a).parked(100).size() == 30 && mails(a).size() == 0);
    assertEquals(7, mails(b).parked(7).size());
    for (var parkedMail : mails(b).parked(100)) assertTrue(mails(b).discard(parkedMail));
    assertEquals(List.of(), mails(a).parked(100));
    assertEquals(0, mails(a).size());
  }

  @Test
  void undecodableWorkIsParked() {
    a.queue("mails", Letter.class).put(new Letter(List.of("one", "two")));
    mails(a).consume(attempts(2), this::send);

    Patience.eventually(() -> mails(b).parked(10).size() == 1);

    assertEquals(Optional.empty(), mails(b).parked(10).getFirst().work());
    assertEquals(Optional.of(new Letter(List.of("one", "two"))),
        b.queue("mails", Letter.class).parked(10).getFirst().work());
  }

  // ---- consumers that end

  @Test
  void closingConsumerWaitsForRunningWork() {
    var consumer = mails(a).consume(1, this::send);
    mails(b).put(new Mail("slow"));
    mails(b).put(new Mail("later"));
    Patience.eventually(() -> starts("slow") == 1);

    consumer.askExit();
    assertFalse(consumer.waitForExit(Duration.ofMillis(50)));
    gate.release();
    consumer.close();

    assertEquals(List.of("slow"), List.copyOf(sentMails));
    assertEquals(1, mails(b).size());
    mails(b).consume(1, this::send);
    awaitSent("slow", "later");
  }

  @Test
  void workOfKilledConsumerReturnsToQueue() {
    var consumer = mails(a).consume(attempts(1), this::send);
    mails(b).put(new Mail("slow"));
    Patience.eventually(() -> starts("slow") == 1);

    consumer.kill();

    mails(b).consume(2, this::send); // with the default maximum of attempts
    Patience.eventually(() -> starts("slow") == 2);
    gate.release();
    awaitSent("slow");
    assertEquals(List.of(), mails(b).parked(10));
  }

  @Test
  void endedWorkersAreGarbageCollected() {
    var workers = endedWorkers();

    Patience.eventually(() -> {
      System.gc();
      return workers.refersTo(null);
    });
  }

  private WeakReference<Object> endedWorkers() {
    var workers = mails(a).consume(1, this::send);
    workers.close();
    return new WeakReference<>(workers);
  }

  @Test
  void closingNodeFinishesRunningWorkBeforeItLeaves() throws Exception {
    mails(a).consume(1, this::send);
    mails(b).put(new Mail("slow"));
    Patience.eventually(() -> starts("slow") == 1);
    var closing = CompletableFuture.runAsync(a::close, Patience::startFiber);

    Patience.eventually(() -> a.queue("mails", Mail.class).size() == 1); // node a is still connected
    gate.release();
    Patience.value(closing);

    assertEquals(List.of("slow"), List.copyOf(sentMails));
    assertEquals(0, mails(b).size());
  }

  @Test
  void workOfCrashedNodeIsDoneByAnotherNode() {
    var c = join("c");
    mails(a).consume(1, this::send);
    mails(b).put(new Mail("slow-at-a"));
    Patience.eventually(() -> starts("slow-at-a") == 1);
    mails(c).consume(1, this::send);
    mails(b).put(new Mail("slow-at-c"));
    Patience.eventually(() -> starts("slow-at-c") == 1);

    crash(c);
    mails(b).consume(2, this::send);

    Patience.eventually(() -> starts("slow-at-c") == 2);
    assertEquals(1, starts("slow-at-a")); // node a is alive, so it keeps its work
    gate.release(3);
    Patience.eventually(() -> mails(b).size() == 0);
    assertEquals(1, starts("slow-at-a"));
  }

  @Test
  void workThatCrashesItsNodeIsParkedAfterMaxAttempts() throws Exception {
    var c = join("c");
    mails(c).consume(attempts(1), this::send);
    mails(b).put(new Mail("slow"));
    Patience.eventually(() -> starts("slow") == 1);

    crash(c);
    mails(b).consume(attempts(1), this::send);
    redeliverUnfinishedWork("mails");

    Patience.eventually(() -> mails(b).parked(10).size() == 1);
    assertEquals("it was begun 1 time, and did not end", mails(b).parked(10).getFirst().reason());
    assertEquals(1, starts("slow"));
  }

  // ---- bad input

  @Test
  void nodeRefusesSecondConsumerOfQueue() {
    Exitable consumer = mails(a).consume(1, this::send);

    assertEquals("node 'a' works on queue 'mails' already; close these workers first",
        assertThrows(IllegalStateException.class, () -> mails(a).consume(1, this::send)).getMessage());
    assertTrue(a.dump().contains("\nworks on: mails\n"), a::dump);

    consumer.close();
    mails(a).consume(1, this::send);
    mails(b).put(new Mail("ada"));
    awaitSent("ada");
  }

  @Test
  void invalidQueueArgumentsAreRefused() {
    var mails = mails(a);
    assertThrows(IllegalArgumentException.class, () -> a.queue("Mails", Mail.class));
    assertThrows(IllegalArgumentException.class, () -> a.queue("mails", Thread.class));
    assertThrows(IllegalArgumentException.class, () -> mails.consume(0, this::send));
    assertThrows(IllegalArgumentException.class,
        () -> mails.consume(options -> options.withMaxAttempts(0), this::send));
    assertThrows(IllegalArgumentException.class,
        () -> mails.consume(options -> options.withBackoff(Duration.ofSeconds(2), Duration.ofSeconds(1)), this::send));
    assertThrows(IllegalArgumentException.class, () -> mails.parked(0));
    assertThrows(NullPointerException.class, () -> mails.put(null));
    assertThrows(NullPointerException.class, () -> mails.consume(1, null));
    var huge = new Mail("x".repeat(2 << 20));
    assertThrows(IllegalArgumentException.class, () -> mails.put(huge));
    assertEquals(0, mails.size());
  }

  @Test
  void callsToQueueOfClosedNodeFailAsDisconnected() {
    var mails = mails(a);
    a.close();

    assertEquals(Failure.DISCONNECTED,
        assertThrows(TransportException.class, () -> mails.put(new Mail("ada"))).failure());
    assertEquals(Failure.DISCONNECTED, assertThrows(TransportException.class, mails::size).failure());
    assertThrows(IllegalStateException.class, () -> mails.consume(1, this::send));
  }
}
