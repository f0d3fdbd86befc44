package io.fibry.pool;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter;
import io.fibry.DeadLetter.Reason;
import io.fibry.FailurePolicy;
import io.fibry.Variants;
import io.fibry.Waits;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.PoolStressItem.Kind;
import io.fibry.support.Patience;
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
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * One pool, some senders, one end at a random moment. Every message has one outcome, and the
 * accounts add up. Handlers at the same time respect workers, permits and keys; a sender's messages
 * of a key stay in order. Each state is used by one thread at a time, and left once.
 */
final class PoolStressRound {
  enum Kinds { PER_MESSAGE, FIXED, SCALING, WEIGHTED, BY_KEY }

  enum Ending { PILL, ASK_EXIT, KILL, CLOSE, SCOPE }

  static final class Planned extends Exception {
    private static final long serialVersionUID = 1;

    Planned() {
      super("planned", null, false, false);
    }
  }

  private static final class State {
    private int mirror; // plain, like `uses`: its worker's
    private int uses;
    private final AtomicInteger left = new AtomicInteger();
  }

  private static final Planned PLANNED = new Planned();
  private static final int KEYS = 3;

  private final SplittableRandom random;
  private final Kinds kind;
  private final String strategy;
  private final Mailbox<Object> mailbox;
  private final String policy;
  private final Ending ending;
  private final int workers;
  final int retries;
  private final int senders;
  private final int each;
  private final int endAt;
  private final ActorScope scope;
  private final Actor<Object> pool;
  private final Queue<PoolStressItem> items = new ConcurrentLinkedQueue<>();
  private final Queue<State> states = new ConcurrentLinkedQueue<>();
  private final Queue<String> faults = new ConcurrentLinkedQueue<>();
  private final AtomicInteger progress = new AtomicInteger();
  private final AtomicInteger active = new AtomicInteger();
  private final AtomicInteger permits = new AtomicInteger();
  private final AtomicInteger[] ofKey = new AtomicInteger[KEYS];
  // by key and sender; guarded by itself
  private final Map<Integer, Integer> last = new HashMap<>();
  private final CountDownLatch ready;
  private volatile boolean over; // `waitForExit` has returned

  PoolStressRound(SplittableRandom random, List<String> strategies) {
    this.random = random;
    this.kind = Kinds.values()[random.nextInt(Kinds.values().length)];
    this.workers = 1 + random.nextInt(4);
    this.senders = 1 + random.nextInt(4);
    this.each = 20 + random.nextInt(100);
    this.endAt = 1 + random.nextInt(senders * each);
    this.ending = Ending.values()[random.nextInt(Ending.values().length)];
    this.ready = new CountDownLatch(senders);
    for (int key = 0; key < KEYS; key++) ofKey[key] = new AtomicInteger();
    this.strategy = strategies.get(random.nextInt(strategies.size()));
    this.mailbox = mailbox();
    var policies = policies();
    this.policy = List.copyOf(policies.keySet()).get(random.nextInt(policies.size()));
    this.retries = policy.equals("retries") ? 2 : 0;
    boolean all = random.nextBoolean();
    this.scope = ActorSystem.openScope("stress", o -> o.withKillGrace(Patience.LONG).withDeadLetters(this::bury)
        .withFailurePolicy((all ? FailurePolicy.restartAll() : FailurePolicy.restart())
            .withBackoff(Duration.ofNanos(50_000), Duration.ofMillis(1))));
    this.pool = sharing(scope.anonymous().strategy(Variants.STRATEGIES.get(strategy))
        .onFailure(policies.get(policy).withoutLog()).mailbox(mailbox)).initialState(this::state).onStop(this::leave)
        .newActor(this::handle);
  }

  private Mailbox<Object> mailbox() {
    int choice = random.nextInt(kind == Kinds.BY_KEY ? 5 : 6);
    int capacity = 1 + random.nextInt(8);
    return switch (choice) {
      case 4 -> Mailbox.unbounded();
      case 5 -> Mailbox.priority(Comparator.comparingInt((Object message) -> ((PoolStressItem) message).number & 1));
      default -> Mailbox.bounded(capacity, Overflow.values()[choice]);
    };
  }

  private static Map<String, FailurePolicy> policies() {
    var all = new LinkedHashMap<String, FailurePolicy>();
    all.put("resume", FailurePolicy.resume());
    all.put("restart", FailurePolicy.restart());
    all.put("rest", FailurePolicy.restart().withBackoff(Duration.ofNanos(50_000), Duration.ofMillis(2)));
    all.put("stop", FailurePolicy.stop());
    all.put("retries", FailurePolicy.resume().withRetries(2));
    all.put("escalate", FailurePolicy.escalate());
    return all;
  }

  private ActorBuilder<Object> sharing(ActorBuilder<Object> how) {
    return switch (kind) {
      case PER_MESSAGE -> Pools.perMessage(how);
      case FIXED -> Pools.fixed(how, workers);
      case SCALING -> Pools.scaling(how, workers / 2, workers);
      case WEIGHTED -> Pools.weighted(how, workers, (Object message) -> ((PoolStressItem) message).weight);
      case BY_KEY -> Pools.byKey(how, workers, (Object message) -> "key " + ((PoolStressItem) message).key);
    };
  }

  // ---- the workers' side

  private State state() {
    var made = new State();
    states.add(made);
    return made;
  }

  private void leave(State state) {
    if (state.left.incrementAndGet() > 1) fault("a state was left twice");
    if (state.uses != state.mirror) fault("a state was left while it was used");
  }

  void handle(State state, Object message, ActorContext<Object> context) {
    var item = (PoolStressItem) message;
    int begun = item.begun.incrementAndGet();
    if (begun > 1 + retries) return;
    if (over) fault(item + " was begun after waitForExit returned");
    if (item.payload != item.number + 1)
      fault(item + ": the handler sees " + item.payload + " of what was written before sending");
    enter(item, begun);
    if (state != null) {
      if (state.left.get() > 0) fault(item + " was given a state that was left");
      if (state.uses++ != state.mirror) fault("two use one state");
    }
    jitter(item.number);
    if (state != null) state.mirror++;
    if (context != null && item.kind == Kind.TELL && item.number % 16 == 5 && !mailbox.toString().contains("BLOCK"))
      more(item, context);
    if (!item.fails) item.done.incrementAndGet();
    exit(item);
    if (item.fails) PoolStressRound.<RuntimeException>raise();
    if (item.request()) context.reply(item, item.number);
  }

  private void enter(PoolStressItem item, int begun) {
    if (active.incrementAndGet() > workers && kind != Kinds.PER_MESSAGE) fault(item + " is one at once too many");
    if (kind == Kinds.WEIGHTED && permits.addAndGet(item.weight) > workers)
      fault(item + " needs permits that there are not");
    if (kind != Kinds.BY_KEY || item.kind == Kind.TASK) return;
    if (ofKey[item.key].incrementAndGet() > 1) fault(item + " is the second of its key at once");
    if (begun > 1 || item.kind == Kind.TIMER) return;
    synchronized (last) {
      int before = last.getOrDefault(item.sender * KEYS + item.key, -1);
      if (before > item.number) fault(item + " came after " + before + " of its sender and key");
      last.put(item.sender * KEYS + item.key, item.number);
    }
  }

  private void exit(PoolStressItem item) {
    if (kind == Kinds.BY_KEY && item.kind != Kind.TASK) ofKey[item.key].decrementAndGet();
    if (kind == Kinds.WEIGHTED) permits.addAndGet(-item.weight);
    active.decrementAndGet();
  }

  /** Sends to its own pool. */
  private void more(PoolStressItem parent, ActorContext<Object> context) {
    var item =
        new PoolStressItem(this, senders + parent.sender, 1_000 * parent.number, Kind.TELL, 1, parent.key, false);
    item.payload = item.number + 1;
    items.add(item);
    item.refused = !context.self().sendMessage(item);
  }

  @SuppressWarnings("unchecked")
  private static <T extends Throwable> void raise() throws T {
    throw (T) PLANNED;
  }

  private void bury(DeadLetter letter) {
    var item = (PoolStressItem) letter.message();
    item.letter = letter.reason();
    item.letters.incrementAndGet();
  }

  private static void jitter(int number) {
    switch (number % 23) {
      case 0 -> Thread.yield();
      case 1, 2 -> Thread.onSpinWait();
      case 3 -> LockSupport.parkNanos(20_000);
      case 4 -> LockSupport.parkNanos(number % 5 == 0 ? 2_000_000 : 100_000);
      default -> {}
    }
  }

  void fault(String what) {
    faults.add(what);
  }

  // ---- the senders' side

  private void send(int sender, SplittableRandom own) {
    ready.countDown();
    try {
      ready.await();
      for (int number = 0; number < each; number++) {
        jitter(own.nextInt(200));
        send(next(sender, number, own), own);
        if (progress.incrementAndGet() == endAt) end(own);
      }
    } catch (Throwable failure) {
      fault("sender " + sender + " failed: " + failure + List.of(failure.getStackTrace()));
    }
  }

  private PoolStressItem next(int sender, int number, SplittableRandom own) {
    var kinds = Kind.values();
    var item = new PoolStressItem(this, sender, number, kinds[own.nextInt(kinds.length)], 1 + own.nextInt(workers),
        own.nextInt(KEYS), own.nextInt(12) == 0);
    item.payload = item.number + 1;
    items.add(item);
    return item;
  }

  private void send(PoolStressItem item, SplittableRandom own) {
    switch (item.kind) {
      case TELL -> item.refused = !pool.sendMessage(item);
      case TASK -> execute(item);
      case TIMER -> pool.sendMessageLater(item, Duration.ofNanos(own.nextInt(1_000_000)));
      case ASK -> ask(item, Patience.LONG);
      case ASK_SHORT -> ask(item, Duration.ofNanos(1 + own.nextInt(60_000)));
      case FUTURE, FUTURE_CANCELLED -> item.future = pool.sendMessageReturn(item);
    }
    if (item.kind != Kind.FUTURE_CANCELLED) return;
    jitter(own.nextInt(100));
    item.future.cancel(own.nextBoolean());
  }

  private void execute(PoolStressItem item) {
    try {
      pool.execute(item);
    } catch (RejectedExecutionException refused) {
      item.refused = true;
    }
  }

  private void ask(PoolStressItem item, Duration limit) {
    try {
      int answer = pool.ask(item, limit);
      if (answer != item.number) item.thrown = new AssertionError("got the answer " + answer);
    } catch (Throwable failure) {
      item.thrown = failure;
    }
  }

  private void end(SplittableRandom own) {
    switch (ending) {
      case PILL -> pool.sendPoisonPill();
      case ASK_EXIT -> pool.askExit();
      case KILL -> pool.kill();
      case CLOSE -> pool.close();
      case SCOPE -> scope.closeWithin(Duration.ofNanos(own.nextInt(3) * own.nextInt(2_000_000)));
    }
  }

  // ---- the round

  void play() throws InterruptedException {
    var threads = new ArrayList<Thread>();
    for (int i = 0; i < senders; i++) {
      int sender = i;
      var own = random.split();
      threads.add((random.nextBoolean() ? Thread.ofVirtual() : Thread.ofPlatform()).start(() -> send(sender, own)));
    }
    Waits.explained(() -> threads.forEach(Patience::joined), this::describe);
    Waits.explained(() -> Patience.ended(pool::waitForExit), this::describe);
    over = true;
    for (var item : items) item.settle();
    if (!scope.awaitQuiescence(Patience.LONG)) fault("its scope does not come to rest");
    check();
    var report = scope.closeWithin(Patience.LONG);
    if (!report.unresponsive().isEmpty())
      throw new AssertionError("still running: " + report.unresponsive() + describe());
  }

  private void check() {
    // timers may be late, and senders count after the end
    if (!Patience.comesTrue(() -> accounts().isEmpty())) fault("the accounts differ: " + accounts());
    for (var item : items) {
      String fault = item.fault();
      if (fault != null) fault(item + " " + fault);
    }
    for (var state : states) if (state.left.get() != 1) fault("a state was left " + state.left + " times");
    if (active.get() != 0) fault(active + " handlers are still inside");
    if (!faults.isEmpty()) throw new AssertionError(faults.stream().limit(10).toList() + describe());
  }

  private String accounts() {
    var report = scope.report();
    var text = new StringBuilder();
    compare(text, "handled", report.handled(), items.stream().filter(item -> item.done.get() > 0).count());
    compare(text, "failed", report.unhandled().get(Reason.FAILED),
        items.stream().filter(item -> item.fails && item.begun.get() > 0).count());
    compare(text, "all", report.sent(), items.stream().filter(PoolStressItem::hasOutcome).count());
    compare(text, "waiting", report.queued(), 0);
    return text.toString();
  }

  private static void compare(StringBuilder text, String what, long counted, long seen) {
    if (counted != seen)
      text.append(what).append(": scope ").append(counted).append(", seen ").append(seen).append("; ");
  }

  private String describe() {
    return " [" + kind + " of " + workers + ", " + mailbox + ", " + strategy + ", " + policy + ", " + ending + " at "
        + endAt + " of " + senders + "x" + each + "]\n" + scope.dump();
  }
}
