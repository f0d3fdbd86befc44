package io.fibry;

import io.fibry.engine.cell.Inside;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * One round of stress: some senders, one actor, one end at a random moment. Afterwards the accounts
 * must add up.
 */
final class StressRound {
  enum Box {
    PLAIN, BLOCK, REJECT, DROP_NEWEST, DROP_OLDEST, PRIORITY, SELECTIVE;

    Mailbox<? super StressItem> mailbox(int capacity) {
      return switch (this) {
        case PLAIN -> Mailbox.unbounded();
        case PRIORITY -> Mailbox.priority(Comparator.comparingInt(StressItem::rank));
        case SELECTIVE -> Mailbox.unbounded().selective();
        default -> Mailbox.bounded(capacity, Overflow.valueOf(name()));
      };
    }
  }

  enum Ending { PILL, ASK_EXIT, KILL, CLOSE }

  /** What a handler throws on demand. */
  static final class Planned extends Exception {
    private static final long serialVersionUID = 1;

    Planned() {
      super("planned", null, false, false);
    }
  }

  private static final Planned PLANNED = new Planned();

  final ActorScope scope;
  final Actor<StressItem> actor;
  private final Strategy strategy;
  final Box box;
  final Ending ending;
  final int senders;
  final int each;
  final int endAt;
  final boolean interrupts;
  private final SplittableRandom random;
  private final List<List<StressItem>> items = new ArrayList<>();
  final AtomicInteger progress = new AtomicInteger();
  private final Queue<String> faults = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean busy = new AtomicBoolean();
  final AtomicInteger stops = new AtomicInteger();
  final AtomicInteger closes = new AtomicInteger();
  private final int[] last; // per sender and rank; plain fields, since only handlers write them
  private int handlers; // plain: how many ran
  private int mirror; // plain: the same
  private SplittableRandom inside; // plain: used by handlers only
  private int late; // plain: handlers that began after `asked`; one may have been about to begin
  private volatile boolean asked; // `askExit` or `kill` has returned
  private volatile boolean over; // `waitForExit` has returned
  private final CountDownLatch ready;

  StressRound(SplittableRandom random, Strategy strategy, Box box) {
    this.random = random;
    this.strategy = strategy;
    this.box = box;
    this.ending = Ending.values()[random.nextInt(Ending.values().length)];
    this.senders = 1 + random.nextInt(4);
    this.each = 20 + random.nextInt(150);
    this.endAt = 1 + random.nextInt(senders * each);
    this.interrupts = random.nextInt(4) == 0;
    this.last = new int[senders * 2];
    this.inside = random.split();
    this.ready = new CountDownLatch(senders);
    this.scope = ActorSystem.openScope("stress",
        o -> o.withKillGrace(Patience.LONG).withAskLimit(Patience.LONG).withDeadLetters(this::bury));
    var builder = scope.anonymous().strategy(strategy).onFailure(FailurePolicy.resume().withoutLog())
        .mailbox(box.mailbox(3 + random.nextInt(8)));
    if (random.nextBoolean()) builder = builder.inlineRequests();
    this.actor = builder.initialState(() -> this).onStop(state -> stops.incrementAndGet())
        .newActor((StressRound round, StressItem item, ActorContext<StressItem> context) -> handle(item, context));
    actor.closeOnExit(closes::incrementAndGet);
  }

  boolean killed() {
    return ending == Ending.KILL;
  }

  // ---- the actor's side

  void handle(StressItem item, ActorContext<StressItem> context) {
    if (item.begun.incrementAndGet() > 1) return;
    if (!busy.compareAndSet(false, true)) fault("two handlers at once, at " + item);
    if (asked && ++late > 1) fault(item + " was begun though the actor had been asked to exit");
    if (over && !killed()) fault(item + " was begun after waitForExit returned");
    if (item.payload != item.number + 1)
      fault(item + ": the handler sees " + item.payload + " of what was written before sending");
    if (handlers != mirror) fault(item + ": sees half of what the handler before wrote");
    handlers++;
    jitter(inside);
    mirror++;
    order(item);
    boolean more = box == Box.SELECTIVE && context != null && inside.nextInt(8) == 0;
    busy.set(false);
    if (!item.fails) finish(item, context);
    if (more) receive(context);
    if (item.fails) StressRound.<RuntimeException>raise();
  }

  private void receive(ActorContext<StressItem> context) {
    try {
      context.receive(StressItem.class, Duration.ofNanos(1 + inside.nextInt(50_000)))
          .ifPresent(item -> handleReceived(item, context));
    } catch (CancellationException interrupted) {
      // by a kill, or as the asker's thread
    }
  }

  private void handleReceived(StressItem item, ActorContext<StressItem> context) {
    item.received = true;
    item.begun.incrementAndGet();
    order(item);
    if (item.request() && item.fails) context.replyFailure(item, PLANNED);
    else finish(item, context);
  }

  private void finish(StressItem item, ActorContext<StressItem> context) {
    item.done.incrementAndGet();
    if (item.request()) context.reply(item, item.number);
  }

  @SuppressWarnings("unchecked") // throws a checked exception too
  private static <T extends Throwable> void raise() throws T {
    throw (T) PLANNED;
  }

  private void order(StressItem item) {
    if (item.kind == StressItem.Kind.TIMER
        || item.kind == StressItem.Kind.TASK && (box == Box.PRIORITY || box == Box.SELECTIVE))
      return;
    int at = item.sender * 2 + (box == Box.PRIORITY ? item.rank() : 0);
    if (item.number < last[at]) fault(item + " came after " + last[at] + " of its sender");
    last[at] = item.number;
  }

  private void bury(DeadLetter letter) {
    var item = (StressItem) letter.message();
    item.letter = letter.reason();
    item.letters.incrementAndGet();
  }

  static void jitter(SplittableRandom random) {
    switch (random.nextInt(40)) {
      case 0 -> Thread.yield();
      case 1, 2 -> Thread.onSpinWait();
      case 3 -> LockSupport.parkNanos(1 + random.nextInt(20_000));
      default -> {}
    }
  }

  // ---- the round

  void play() throws InterruptedException {
    var threads = new ArrayList<Thread>();
    for (int i = 0; i < senders; i++) {
      var mine = new ArrayList<StressItem>();
      items.add(mine);
      var sender = new StressSender(this, i, random.split(), mine);
      threads.add((random.nextBoolean() ? Thread.ofVirtual() : Thread.ofPlatform()).unstarted(sender));
    }
    for (var thread : threads) thread.start();
    if (interrupts) interruptSome(threads);
    Waits.explained(() -> threads.forEach(Patience::joined), this::describe);
    Waits.explained(() -> Patience.ended(actor::waitForExit), this::describe);
    over = true;
    for (var item : all()) item.settle();
    check();
    scope.close();
  }

  /** Each sender calls this before it begins. */
  void meet() {
    ready.countDown();
    try {
      ready.await();
    } catch (InterruptedException stray) {
      Thread.currentThread().interrupt();
    }
  }

  private void interruptSome(List<Thread> threads) {
    var when = random.split();
    for (int i = 0; i < 20; i++) {
      LockSupport.parkNanos(1 + when.nextInt(200_000));
      threads.get(when.nextInt(threads.size())).interrupt();
    }
  }

  void end() {
    switch (ending) {
      case PILL -> actor.sendPoisonPill();
      case ASK_EXIT -> actor.askExit();
      case KILL -> actor.kill();
      case CLOSE -> close();
    }
    asked = ending == Ending.ASK_EXIT || killed();
  }

  private void close() {
    try {
      actor.close();
    } catch (CancellationException interrupted) {
      if (!Thread.currentThread().isInterrupted()) fault("close was interrupted, and the flag is lost");
    }
  }

  void fault(String what) {
    faults.add(what);
  }

  // ---- the accounts

  private void check() {
    if (!Patience.comesTrue(this::settled)) fault("the accounts of the scope differ: " + accounts());
    for (var item : all()) {
      String fault = item.fault();
      if (fault != null) fault(item + " " + fault);
    }
    if (handlers != mirror) fault("writes of handlers were lost: " + handlers + " and " + mirror);
    if (stops.get() > 1) fault("the stop hook ran " + stops + " times");
    if (closes.get() != 1) fault("closeOnExit ran " + closes + " times");
    if (!faults.isEmpty()) throw new AssertionError(faults.stream().limit(10).toList() + describe());
  }

  private List<StressItem> all() {
    return items.stream().flatMap(List::stream).toList();
  }

  /**
   * Whether each message has an outcome in time, and the accounts balance. A timer may be late, and
   * a sender or an activation that only disposes may count after the end.
   */
  private boolean settled() {
    return accounts().isEmpty() && all().stream().allMatch(StressItem::isSettled);
  }

  /**
   * Compares the scope's counts with what senders, handlers and the listener saw; empty if they
   * agree.
   */
  private String accounts() {
    var text = new StringBuilder();
    long outcomes = all().stream().filter(item -> item.request() || item.done.get() + item.letters.get() > 0).count();
    var report = scope.report();
    compare(text, "handled", report.handled(),
        all().stream().filter(item -> item.done.get() > 0 || item.received).count());
    compare(text, "FAILED", report.unhandled().get(DeadLetter.Reason.FAILED),
        all().stream().filter(item -> item.fails && item.begun.get() > 0 && !item.received).count());
    report.unhandled().forEach((reason, count) -> least(text, reason, count));
    long sum = report.handled() + report.unhandled().values().stream().mapToLong(Long::longValue).sum();
    compare(text, "all", sum, outcomes);
    return text.toString();
  }

  /**
   * The outcomes that were told are a lower bound: a request that is canceled while its message is
   * dropped may be told another outcome.
   */
  private void least(StringBuilder text, DeadLetter.Reason reason, long counted) {
    long seen = all().stream().filter(item -> item.letter == reason).count();
    if (counted < seen)
      text.append(reason).append(": scope ").append(counted).append(", letters ").append(seen);
  }

  private static void compare(StringBuilder text, String what, long counted, long seen) {
    if (counted != seen)
      text.append(what).append(": scope ").append(counted).append(", seen ").append(seen).append("; ");
  }

  private String describe() {
    return " [" + box + ", " + ending + " at " + endAt + " of " + senders + "x" + each + ", interrupts " + interrupts
        + ", " + strategy + ", " + Inside.describe(actor) + "]";
  }
}
