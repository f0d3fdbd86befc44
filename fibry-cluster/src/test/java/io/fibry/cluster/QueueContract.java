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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
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

/** Work that nodes share. */
abstract class QueueContract {
  record Mail(String to) {}

  record Bill(String idempotencyKey, int cents) implements Idempotent {}

  record Letter(List<String> pages) {}

  final String app;
  private final TestNetwork network;
  private final ActorScope scope = ActorSystem.openScope("queue-test");
  private final List<Cluster> nodes = new ArrayList<>();
  private final Semaphore gate = new Semaphore(0);
  private final Map<String, LongAdder> begun = new ConcurrentHashMap<>(); // how often, by work
  private final Queue<String> done = new ConcurrentLinkedQueue<>();
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

  private void end(Cluster node) {
    network.end(node);
    nodes.remove(node);
  }

  /** The network need not wait any longer for a node that has ended with work. */
  void giveUpNow(String queue) throws Exception {}

  @AfterEach
  void close() {
    gate.release(1_000);
    nodes.forEach(Cluster::close);
    scope.close();
  }

  private static WorkQueue<Mail> mails(Cluster node) {
    return node.queue("mails", Mail.class);
  }

  /** Without long pauses. */
  private static UnaryOperator<WorkQueue.Options> attempts(int most) {
    return options -> options.withMaxAttempts(most).withBackoff(Duration.ofMillis(20), Duration.ofMillis(100));
  }

  private void send(Mail mail) throws InterruptedException {
    begun.computeIfAbsent(mail.to(), none -> new LongAdder()).increment();
    if (mail.to().startsWith("slow")) gate.acquire();
    if (mail.to().startsWith("bad")) throw new IllegalStateException("no such address");
    done.add(mail.to());
  }

  private long begun(String mail) {
    var times = begun.get(mail);
    return times == null ? 0 : times.sum();
  }

  private void awaitDone(String... mails) {
    Patience.eventually(() -> done.size() >= mails.length);
    assertEquals(List.of(mails).stream().sorted().toList(), done.stream().sorted().toList());
  }

  // ---- work

  @Test
  void nodesShareWorkAndEachItemIsDoneOnce() {
    var by = new ConcurrentHashMap<String, String>(); // node, by mail
    var twice = new LongAdder();
    var both = new CountDownLatch(2); // a node holds four until the other one has some, too
    for (var node : List.of(a, b)) {
      var first = new AtomicBoolean(true);
      mails(node).consume(4, mail -> {
        if (first.getAndSet(false)) both.countDown();
        Patience.await(both);
        if (by.put(mail.to(), node.self().name()) != null) twice.increment();
      });
    }

    IntStream.range(0, 400).parallel().forEach(i -> mails(a).put(new Mail("m" + i)));

    Patience.eventually(() -> by.size() == 400 && mails(b).size() == 0);
    assertEquals(0, twice.sum());
    assertEquals(2, by.values().stream().distinct().count());
  }

  @Test
  void workWaitsUntilConsumerStarts() {
    var early = join("early");
    mails(early).put(new Mail("ada"));
    mails(early).put(new Mail("bob"));
    early.close();

    assertEquals(2, mails(a).size());
    mails(b).consume(1, this::send);

    awaitDone("ada", "bob");
    assertEquals(List.of("ada", "bob"), List.copyOf(done)); // one worker, one after the other
    Patience.eventually(() -> mails(a).size() == 0);
  }

  @Test
  void consumerRespectsMaxParallel() {
    var now = new AtomicInteger();
    var most = new AtomicInteger();
    mails(a).consume(3, mail -> {
      most.accumulateAndGet(now.incrementAndGet(), Math::max);
      gate.acquire();
      now.decrementAndGet();
      done.add(mail.to());
    });

    for (int i = 0; i < 20; i++) mails(b).put(new Mail("m" + i));

    Patience.eventually(() -> now.get() == 3);
    gate.release(20);
    Patience.eventually(() -> done.size() == 20);
    assertEquals(3, most.get());
  }

  @Test
  void workWithSameIdIsStoredOnce() {
    var bills = a.queue("bills", Bill.class);
    bills.put(new Bill("b 1/ü", 100));
    b.queue("bills", Bill.class).put(new Bill("b 1/ü", 100));
    bills.put(new Bill("b 2", 100));
    bills.put(new Bill("b 1/ü", 100));
    a.queue("other-bills", Bill.class).put(new Bill("b 1/ü", 100)); // other queues have other ids

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
      done.add(mail.to());
    });

    mails(b).put(new Mail("ada"));

    awaitDone("ada");
    Patience.eventually(() -> mails(a).size() == 0);
    assertEquals(3, times.get());
    assertEquals(List.of(), mails(a).parked(10));
  }

  @Test
  void anErrorIsAFailure() {
    mails(a).consume(attempts(2), mail -> {
      throw new StackOverflowError("made up");
    });

    mails(b).put(new Mail("ada"));

    Patience.eventually(() -> mails(b).parked(10).size() == 1);
    assertEquals("java.lang.StackOverflowError: made up", mails(b).parked(10).getFirst().reason());
  }

  @Test
  void repeatedlyFailingWorkIsParked() {
    var working = mails(a).consume(attempts(3), this::send);
    mails(b).put(new Mail("bad"));
    mails(b).put(new Mail("worse-than-bad"));

    Patience.eventually(() -> mails(b).parked(10).size() == 1 && mails(b).size() == 0);
    var aside = mails(b).parked(10).getFirst();
    assertEquals(Optional.of(new Mail("bad")), aside.work());
    assertEquals(3, aside.attempts());
    assertEquals("java.lang.IllegalStateException: no such address", aside.reason());
    assertEquals(3, begun("bad"));
    awaitDone("worse-than-bad");

    working.close();
    assertTrue(mails(a).retry(aside));
    assertFalse(mails(b).retry(aside));
    assertFalse(mails(b).discard(aside));
    assertEquals(1, mails(b).size());
    mails(b).consume(1, mail -> done.add(mail.to()));
    awaitDone("bad", "worse-than-bad");
    assertEquals(List.of(), mails(b).parked(10));
  }

  @Test
  void parkedWorkIsListedAndDiscarded() {
    mails(a).consume(attempts(1).andThen(options -> options.withMaxParallel(8))::apply, this::send);
    for (int i = 0; i < 30; i++) mails(b).put(new Mail("bad" + i));

    Patience.eventually(() -> mails(a).parked(100).size() == 30 && mails(a).size() == 0);
    assertEquals(7, mails(b).parked(7).size());
    for (var one : mails(b).parked(100)) assertTrue(mails(b).discard(one));
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

  // ---- ends

  @Test
  void closingConsumerWaitsForRunningWork() {
    var working = mails(a).consume(1, this::send);
    mails(b).put(new Mail("slow"));
    mails(b).put(new Mail("later"));
    Patience.eventually(() -> begun("slow") == 1);

    working.askExit();
    assertFalse(working.waitForExit(Duration.ofMillis(50)));
    gate.release();
    working.close();

    assertEquals(List.of("slow"), List.copyOf(done));
    assertEquals(1, mails(b).size());
    mails(b).consume(1, this::send);
    awaitDone("slow", "later");
  }

  @Test
  void interruptedWorkReturnsToQueue() {
    var working = mails(a).consume(attempts(1), this::send);
    mails(b).put(new Mail("slow"));
    Patience.eventually(() -> begun("slow") == 1);

    working.kill();

    mails(b).consume(2, this::send); // as often as usual
    Patience.eventually(() -> begun("slow") == 2);
    gate.release();
    awaitDone("slow");
    assertEquals(List.of(), mails(b).parked(10));
  }

  @Test
  void leavingNodeFinishesItsWorkFirst() throws Exception {
    mails(a).consume(1, this::send);
    mails(b).put(new Mail("slow"));
    Patience.eventually(() -> begun("slow") == 1);
    var leaving = Thread.ofVirtual().start(a::close);

    Patience.eventually(() -> a.queue("mails", Mail.class).size() == 1); // it is connected
    gate.release();
    leaving.join();

    assertEquals(List.of("slow"), List.copyOf(done));
    assertEquals(0, mails(b).size());
  }

  @Test
  void workOfCrashedNodeIsDoneByAnotherNode() {
    var c = join("c");
    mails(a).consume(1, this::send);
    mails(b).put(new Mail("slow-at-a"));
    Patience.eventually(() -> begun("slow-at-a") == 1);
    mails(c).consume(1, this::send);
    mails(b).put(new Mail("slow-at-c"));
    Patience.eventually(() -> begun("slow-at-c") == 1);

    end(c);
    mails(b).consume(2, this::send);

    Patience.eventually(() -> begun("slow-at-c") == 2);
    assertEquals(1, begun("slow-at-a")); // that node is alive, so it keeps it, however long it takes
    gate.release(3);
    Patience.eventually(() -> mails(b).size() == 0);
    assertEquals(1, begun("slow-at-a"));
  }

  @Test
  void workThatKeepsCrashingItsNodeIsParked() throws Exception {
    var c = join("c");
    mails(c).consume(attempts(1), this::send);
    mails(b).put(new Mail("slow"));
    Patience.eventually(() -> begun("slow") == 1);

    end(c);
    mails(b).consume(attempts(1), this::send);
    giveUpNow("mails");

    Patience.eventually(() -> mails(b).parked(10).size() == 1);
    assertEquals("it was begun 1 times, and did not end", mails(b).parked(10).getFirst().reason());
    assertEquals(1, begun("slow"));
  }

  // ---- bad input

  @Test
  void nodeConsumesQueueOnlyOnce() {
    Exitable first = mails(a).consume(1, this::send);

    assertEquals("node 'a' works on queue 'mails' already; close that work",
        assertThrows(IllegalStateException.class, () -> mails(a).consume(1, this::send)).getMessage());
    assertTrue(a.dump().contains("\nworks on: mails\n"), a::dump);

    first.close();
    mails(a).consume(1, this::send);
    mails(b).put(new Mail("ada"));
    awaitDone("ada");
  }

  @Test
  void badInputIsRefused() {
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
  void queueOfClosedNodeReportsDisconnection() {
    var mails = mails(a);
    a.close();

    assertEquals(Failure.DISCONNECTED,
        assertThrows(TransportException.class, () -> mails.put(new Mail("ada"))).failure());
    assertEquals(Failure.DISCONNECTED, assertThrows(TransportException.class, mails::size).failure());
    assertThrows(IllegalStateException.class, () -> mails.consume(1, this::send));
  }
}
