package io.fibry.pool;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter.Reason;
import io.fibry.FailurePolicy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.stress.SentMessage;
import io.fibry.stress.SentMessage.Kind;
import io.fibry.support.Patience;
import io.fibry.testing.StressRuns;
import io.fibry.testing.Variants;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * Runs one pool with several senders, and ends it at a random moment. Checks that every message has
 * one outcome and that the scope's counts are right. Concurrent handlers must respect workers,
 * permits and keys, and the messages of one sender and key must stay in order. Each state must be
 * used by one thread at a time, and its stop hook must run once.
 */
final class PoolStressRound {
  enum PoolKind { PER_MESSAGE, FIXED, SCALING, WEIGHTED, BY_KEY }

  enum Ending { PILL, ASK_EXIT, KILL, CLOSE, SCOPE }

  private static final class State {
    private int mirror; // like `uses`, this counter is not atomic, because only one worker at a time may use a state
    private int uses;
    private final AtomicInteger stopCount = new AtomicInteger();
  }

  private static final int KEYS = 3;
  private static final List<Kind> KINDS = Stream.of(Kind.values()).filter(kind -> kind != Kind.BATCH).toList();

  private final SplittableRandom random;
  private final PoolKind kind;
  private final String strategy;
  private final Mailbox<Object> mailbox;
  private final String policy;
  private final Ending ending;
  private final int workers;
  final int retries;
  private final int senders;
  private final int messagesPerSender;
  private final int endAfterMessages;
  private final ActorScope scope;
  private final Actor<Object> pool;
  private final Queue<PoolStressItem> items = new ConcurrentLinkedQueue<>();
  private final Queue<State> states = new ConcurrentLinkedQueue<>();
  private final Queue<String> violations = new ConcurrentLinkedQueue<>();
  private final AtomicInteger progress = new AtomicInteger();
  private final AtomicInteger activeCount = new AtomicInteger();
  private final AtomicInteger usedPermits = new AtomicInteger();
  private final AtomicInteger[] activeByKey = new AtomicInteger[KEYS];
  // the last handled number for each key and sender; guarded by itself
  private final Map<Integer, Integer> lastNumbers = new HashMap<>();
  private final CountDownLatch startLatch;
  private volatile boolean poolEnded; // `waitForExit` has returned

  PoolStressRound(SplittableRandom random, List<String> strategies) {
    this(random, PoolKind.values()[random.nextInt(PoolKind.values().length)], strategies);
  }

  static PoolStressRound perMessage(SplittableRandom random) {
    return new PoolStressRound(random, PoolKind.PER_MESSAGE, List.of("FIBER"));
  }

  private PoolStressRound(SplittableRandom random, PoolKind kind, List<String> strategies) {
    this.random = random;
    this.kind = kind;
    this.workers = 1 + random.nextInt(4);
    this.senders = 1 + random.nextInt(4);
    this.messagesPerSender = 20 + random.nextInt(100);
    this.endAfterMessages = 1 + random.nextInt(senders * messagesPerSender);
    this.ending = Ending.values()[random.nextInt(Ending.values().length)];
    this.startLatch = new CountDownLatch(senders);
    for (int key = 0; key < KEYS; key++) activeByKey[key] = new AtomicInteger();
    this.strategy = strategies.get(random.nextInt(strategies.size()));
    this.mailbox = mailbox();
    var policies = policies();
    this.policy = List.copyOf(policies.keySet()).get(random.nextInt(policies.size()));
    this.retries = policy.equals("retries") ? 2 : 0;
    boolean restartsAll = random.nextBoolean();
    this.scope = ActorSystem.openScope("stress", o -> o.withKillGrace(Patience.LONG)
        .withDeadLetterListener(SentMessage::recordLetter)
        .withFailurePolicy((restartsAll ? FailurePolicy.restartAll() : FailurePolicy.restart())
            .withBackoff(Duration.ofNanos(50_000), Duration.ofMillis(1))));
    this.pool = asPool(scope.anonymous().strategy(Variants.STRATEGIES.get(strategy))
        .onFailure(policies.get(policy).withoutLog()).mailbox(mailbox)).initialState(this::state).onStop(this::stop)
        .newActor(this::handle);
  }

  private Mailbox<Object> mailbox() {
    int choice = random.nextInt(kind == PoolKind.BY_KEY ? 5 : 6);
    int capacity = 1 + random.nextInt(8);
    return switch (choice) {
      case 4 -> Mailbox.unbounded();
      case 5 -> Mailbox.priority(Comparator.comparingInt((Object message) -> ((PoolStressItem) message).number & 1));
      default -> Mailbox.bounded(capacity, Overflow.values()[choice]);
    };
  }

  private static Map<String, FailurePolicy> policies() {
    var policies = new LinkedHashMap<String, FailurePolicy>();
    policies.put("resume", FailurePolicy.resume());
    policies.put("restart", FailurePolicy.restart());
    policies.put("backoff", FailurePolicy.restart().withBackoff(Duration.ofNanos(50_000), Duration.ofMillis(2)));
    policies.put("stop", FailurePolicy.stop());
    policies.put("retries", FailurePolicy.resume().withRetries(2));
    policies.put("escalate", FailurePolicy.escalate());
    return policies;
  }

  private ActorBuilder<Object> asPool(ActorBuilder<Object> builder) {
    return switch (kind) {
      case PER_MESSAGE -> Pools.perMessage(builder);
      case FIXED -> Pools.fixed(builder, workers);
      case SCALING -> Pools.scaling(builder, workers / 2, workers);
      case WEIGHTED -> Pools.weighted(builder, workers, (Object message) -> ((PoolStressItem) message).weight);
      case BY_KEY -> Pools.byKey(builder, workers, (Object message) -> "key " + ((PoolStressItem) message).key);
    };
  }

  // ---- the workers' side

  private State state() {
    var state = new State();
    states.add(state);
    return state;
  }

  private void stop(State state) {
    if (state.stopCount.incrementAndGet() > 1) addViolation("the stop hook of a state ran twice");
    if (state.uses != state.mirror) addViolation("a state was stopped while it was used");
  }

  void handle(State state, Object message, ActorContext<Object> context) {
    var item = (PoolStressItem) message;
    int beginCount = item.handlerBegins.incrementAndGet();
    if (beginCount > 1 + retries) return;
    if (poolEnded) addViolation(item + " was begun after waitForExit returned");
    if (item.payload != item.number + 1)
      addViolation(item + ": the handler sees the payload " + item.payload + ", which is older than the send");
    enter(item, beginCount);
    if (state != null) {
      if (state.stopCount.get() > 0) addViolation(item + " got a stopped state");
      if (state.uses++ != state.mirror) addViolation("two threads use one state");
    }
    jitter(item.number);
    if (state != null) state.mirror++;
    if (context != null && item.kind == Kind.TELL && item.number % 16 == 5 && !mailbox.toString().contains("BLOCK"))
      sendFromHandler(item, context);
    if (!item.fails) item.handlerReturns.incrementAndGet();
    exit(item);
    if (item.fails) SentMessage.<RuntimeException>throwPlanned();
    if (item.isRequest()) context.reply(item, item.number);
  }

  private void enter(PoolStressItem item, int beginCount) {
    if (activeCount.incrementAndGet() > workers && kind != PoolKind.PER_MESSAGE)
      addViolation(item + " exceeds the number of workers");
    if (kind == PoolKind.WEIGHTED && usedPermits.addAndGet(item.weight) > workers)
      addViolation(item + " exceeds the number of permits");
    if (kind != PoolKind.BY_KEY || item.kind == Kind.TASK) return;
    if (activeByKey[item.key].incrementAndGet() > 1)
      addViolation(item + " is handled while another message of its key is handled");
    if (beginCount > 1 || item.kind == Kind.TIMER) return;
    synchronized (lastNumbers) {
      int lastNumber = lastNumbers.getOrDefault(item.sender * KEYS + item.key, -1);
      if (lastNumber > item.number) addViolation(item + " was handled after " + lastNumber + " of its sender and key");
      lastNumbers.put(item.sender * KEYS + item.key, item.number);
    }
  }

  private void exit(PoolStressItem item) {
    if (kind == PoolKind.BY_KEY && item.kind != Kind.TASK) activeByKey[item.key].decrementAndGet();
    if (kind == PoolKind.WEIGHTED) usedPermits.addAndGet(-item.weight);
    activeCount.decrementAndGet();
  }

  /** Sends a further message to the pool, from a handler of the pool. */
  private void sendFromHandler(PoolStressItem parent, ActorContext<Object> context) {
    var item =
        new PoolStressItem(this, senders + parent.sender, 1_000 * parent.number, Kind.TELL, 1, parent.key, false);
    items.add(item);
    item.refused = !context.self().sendMessage(item);
  }

  static void jitter(int number) {
    switch (number % 23) {
      case 0 -> Thread.yield();
      case 1, 2 -> Thread.onSpinWait();
      case 3 -> LockSupport.parkNanos(20_000);
      case 4 -> LockSupport.parkNanos(number % 5 == 0 ? 2_000_000 : 100_000);
      default -> {}
    }
  }

  void addViolation(String text) {
    violations.add(text);
  }

  // ---- the senders' side

  private void send(int sender, SplittableRandom senderRandom) {
    startLatch.countDown();
    try {
      startLatch.await();
      for (int number = 0; number < messagesPerSender; number++) {
        jitter(senderRandom.nextInt(200));
        next(sender, number, senderRandom).send(pool, senderRandom, 60_000);
        if (progress.incrementAndGet() == endAfterMessages) end(senderRandom);
      }
    } catch (Throwable failure) {
      addViolation("sender " + sender + " failed: " + failure + List.of(failure.getStackTrace()));
    }
  }

  private PoolStressItem next(int sender, int number, SplittableRandom senderRandom) {
    var item = new PoolStressItem(this, sender, number, KINDS.get(senderRandom.nextInt(KINDS.size())),
        1 + senderRandom.nextInt(workers), senderRandom.nextInt(KEYS), senderRandom.nextInt(12) == 0);
    items.add(item);
    return item;
  }

  private void end(SplittableRandom senderRandom) {
    switch (ending) {
      case PILL -> pool.sendPoisonPill();
      case ASK_EXIT -> pool.askExit();
      case KILL -> pool.kill();
      case CLOSE -> pool.close();
      case SCOPE -> scope.closeWithin(Duration.ofNanos(senderRandom.nextInt(3) * senderRandom.nextInt(2_000_000)));
    }
  }

  // ---- the round

  void play() throws InterruptedException {
    var threads = new ArrayList<Thread>();
    for (int i = 0; i < senders; i++) {
      int sender = i;
      var senderRandom = random.split();
      threads.add((random.nextBoolean() ? Thread.ofVirtual() : Thread.ofPlatform())
          .start(() -> send(sender, senderRandom)));
    }
    StressRuns.runWithState(() -> threads.forEach(Patience::awaitEnd), this::describe);
    StressRuns.runWithState(() -> Patience.awaitEnd(pool::waitForExit), this::describe);
    poolEnded = true;
    for (var item : items) item.settle();
    if (!scope.awaitQuiescence(Patience.LONG)) addViolation("the scope does not become quiet");
    check();
    var report = scope.closeWithin(Patience.LONG);
    if (!report.unresponsive().isEmpty())
      throw new AssertionError("still running: " + report.unresponsive() + describe());
  }

  private void check() {
    // waits for the counts, because timers may fire late, and senders may count messages after the
    // pool has ended
    if (!Patience.comesTrue(() -> countDifferences().isEmpty()))
      addViolation("the counts differ: " + countDifferences());
    for (var item : items) {
      String violation = item.violation();
      if (violation != null) addViolation(item + " " + violation);
    }
    for (var state : states)
      if (state.stopCount.get() != 1) addViolation("the stop hook of a state ran " + state.stopCount + " times");
    if (activeCount.get() != 0) addViolation(activeCount + " handlers have not returned");
    if (!violations.isEmpty()) throw new AssertionError(violations.stream().limit(10).toList() + describe());
  }

  private String countDifferences() {
    var report = scope.report();
    var text = new StringBuilder();
    compare(text, "handled", report.handled(), items.stream().filter(item -> item.handlerReturns.get() > 0).count());
    compare(text, "failed", report.unhandled().get(Reason.FAILED),
        items.stream().filter(item -> item.fails && item.handlerBegins.get() > 0).count());
    compare(text, "all", report.sent(), items.stream().filter(PoolStressItem::hasOutcome).count());
    compare(text, "waiting", report.queued(), 0);
    return text.toString();
  }

  private static void compare(StringBuilder text, String label, long scopeCount, long itemCount) {
    if (scopeCount != itemCount)
      text.append(label).append(": scope ").append(scopeCount).append(", items ").append(itemCount).append("; ");
  }

  private String describe() {
    return " [" + kind + " of " + workers + ", " + mailbox + ", " + strategy + ", " + policy + ", " + ending + " at "
        + endAfterMessages + " of " + senders + "x" + messagesPerSender + "]\n" + scope.dump();
  }
}
