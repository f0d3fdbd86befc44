package io.fibry.stress;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.engine.cell.ActorInternals;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.testing.StressRuns;
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
 * One round of a stress test. Some senders send to one actor, and a sender ends the actor at a
 * random moment. Afterwards the counts of the scope must agree with the outcomes of all messages.
 */
final class StressRound {
  enum MailboxKind {
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

  final ActorScope scope;
  final Actor<StressItem> actor;
  private final Strategy strategy;
  final MailboxKind mailboxKind;
  final Ending ending;
  final int senders;
  final int messagesPerSender;
  final int endAfterMessages;
  final boolean interrupts;
  private final SplittableRandom random;
  private final List<List<StressItem>> items = new ArrayList<>();
  final AtomicInteger progress = new AtomicInteger();
  private final Queue<String> violations = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean isHandling = new AtomicBoolean();
  final AtomicInteger stopHookRuns = new AtomicInteger();
  final AtomicInteger closeHookRuns = new AtomicInteger();
  // this array and the next four fields are not volatile: handlers must see earlier writes
  private final int[] lastNumbers; // the last handled number per sender and rank
  private int handlerStarts;
  private int handlerEnds; // equal to handlerStarts between two handlers
  private SplittableRandom handlerRandom; // used by handlers only
  private int lateHandlers; // handlers that began after exitRequested, at most one is allowed
  private volatile boolean exitRequested; // askExit or kill has returned
  private volatile boolean exitAwaited; // waitForExit has returned
  private final CountDownLatch startedSenders;

  StressRound(SplittableRandom random, Strategy strategy, MailboxKind mailboxKind) {
    this.random = random;
    this.strategy = strategy;
    this.mailboxKind = mailboxKind;
    this.ending = Ending.values()[random.nextInt(Ending.values().length)];
    this.senders = 1 + random.nextInt(4);
    this.messagesPerSender = 20 + random.nextInt(150);
    this.endAfterMessages = 1 + random.nextInt(senders * messagesPerSender);
    this.interrupts = random.nextInt(4) == 0;
    this.lastNumbers = new int[senders * 2];
    this.handlerRandom = random.split();
    this.startedSenders = new CountDownLatch(senders);
    this.scope = ActorSystem.openScope("stress",
        o -> o.withKillGrace(Patience.LONG).withAskLimit(Patience.LONG)
            .withDeadLetterListener(SentMessage::recordLetter));
    var builder = scope.anonymous().strategy(strategy).onFailure(FailurePolicy.resume().withoutLog())
        .mailbox(mailboxKind.mailbox(3 + random.nextInt(8)));
    if (random.nextBoolean()) builder = builder.inlineRequests();
    this.actor = builder.initialState(() -> this).onStop(state -> stopHookRuns.incrementAndGet())
        .newActor((StressRound round, StressItem item, ActorContext<StressItem> context) -> handle(item, context));
    actor.closeOnExit(closeHookRuns::incrementAndGet);
  }

  boolean isKilled() {
    return ending == Ending.KILL;
  }

  // ---- code of the actor

  void handle(StressItem item, ActorContext<StressItem> context) {
    if (item.handlerBegins.incrementAndGet() > 1) return;
    if (!isHandling.compareAndSet(false, true)) addViolation("two handlers at once, at " + item);
    if (exitRequested && ++lateHandlers > 1) addViolation(item + " was begun after askExit or kill had returned");
    if (exitAwaited && !isKilled()) addViolation(item + " was begun after waitForExit returned");
    if (item.payload != item.number + 1)
      addViolation(
          item + ": the handler sees " + item.payload + " instead of the value that was written before sending");
    if (handlerStarts != handlerEnds) addViolation(item + ": sees only some writes of the previous handler");
    handlerStarts++;
    StressRuns.jitter(handlerRandom);
    handlerEnds++;
    checkOrder(item);
    boolean receivesAnother = mailboxKind == MailboxKind.SELECTIVE && context != null && handlerRandom.nextInt(8) == 0;
    isHandling.set(false);
    if (!item.fails) finish(item, context);
    if (receivesAnother) receive(context);
    if (item.fails) SentMessage.<RuntimeException>throwPlanned();
  }

  private void receive(ActorContext<StressItem> context) {
    try {
      context.receive(StressItem.class, Duration.ofNanos(1 + handlerRandom.nextInt(50_000)))
          .ifPresent(item -> handleReceived(item, context));
    } catch (CancellationException interrupted) {
      // interrupted by a kill, or because the handler runs on the interrupted thread of an asker
    }
  }

  private void handleReceived(StressItem item, ActorContext<StressItem> context) {
    item.received = true;
    item.handlerBegins.incrementAndGet();
    checkOrder(item);
    if (item.isRequest() && item.fails) context.replyFailure(item, SentMessage.PLANNED);
    else finish(item, context);
  }

  private void finish(StressItem item, ActorContext<StressItem> context) {
    item.handlerReturns.incrementAndGet();
    if (item.isRequest()) context.reply(item, item.number);
  }

  private void checkOrder(StressItem item) {
    if (item.kind == SentMessage.Kind.TIMER
        || item.kind == SentMessage.Kind.TASK
            && (mailboxKind == MailboxKind.PRIORITY || mailboxKind == MailboxKind.SELECTIVE))
      return;
    int index = item.sender * 2 + (mailboxKind == MailboxKind.PRIORITY ? item.rank() : 0);
    if (item.number < lastNumbers[index])
      addViolation(item + " came after " + lastNumbers[index] + " of the same sender");
    lastNumbers[index] = item.number;
  }

  // ---- the round

  void play() throws InterruptedException {
    var threads = new ArrayList<Thread>();
    for (int i = 0; i < senders; i++) {
      var ownItems = new ArrayList<StressItem>();
      items.add(ownItems);
      var sender = new StressSender(this, i, random.split(), ownItems);
      threads.add((random.nextBoolean() ? Thread.ofVirtual() : Thread.ofPlatform()).unstarted(sender));
    }
    for (var thread : threads) thread.start();
    if (interrupts) interruptSome(threads);
    StressRuns.runWithState(() -> threads.forEach(Patience::awaitEnd), this::describe);
    StressRuns.runWithState(() -> Patience.awaitEnd(actor::waitForExit), this::describe);
    exitAwaited = true;
    for (var item : all()) item.settle();
    check();
    scope.close();
  }

  /** Called by each sender. Waits until all senders have started. */
  void awaitAllSenders() {
    startedSenders.countDown();
    try {
      startedSenders.await();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
    }
  }

  private void interruptSome(List<Thread> threads) {
    var interruptRandom = random.split();
    for (int i = 0; i < 20; i++) {
      LockSupport.parkNanos(1 + interruptRandom.nextInt(200_000));
      threads.get(interruptRandom.nextInt(threads.size())).interrupt();
    }
  }

  void end() {
    switch (ending) {
      case PILL -> actor.sendPoisonPill();
      case ASK_EXIT -> actor.askExit();
      case KILL -> actor.kill();
      case CLOSE -> close();
    }
    exitRequested = ending == Ending.ASK_EXIT || isKilled();
  }

  private void close() {
    try {
      actor.close();
    } catch (CancellationException interrupted) {
      if (!Thread.currentThread().isInterrupted())
        addViolation("close was interrupted, and the interrupt flag is lost");
    }
  }

  void addViolation(String text) {
    violations.add(text);
  }

  // ---- checks after the round

  private void check() {
    if (!Patience.comesTrue(this::isSettled)) addViolation("the counts of the scope differ: " + describeDifferences());
    for (var item : all()) {
      String violation = item.violation();
      if (violation != null) addViolation(item + " " + violation);
    }
    if (handlerStarts != handlerEnds)
      addViolation("writes of handlers were lost: " + handlerStarts + " and " + handlerEnds);
    if (stopHookRuns.get() > 1) addViolation("the stop hook ran " + stopHookRuns + " times");
    if (closeHookRuns.get() != 1) addViolation("closeOnExit ran " + closeHookRuns + " times");
    if (!violations.isEmpty()) throw new AssertionError(violations.stream().limit(10).toList() + describe());
  }

  private List<StressItem> all() {
    return items.stream().flatMap(List::stream).toList();
  }

  /**
   * Returns whether each message has an outcome, and the counts agree. This may become true some
   * time after the end of the actor, because a timer, a sender or an activation may count its last
   * message late.
   */
  private boolean isSettled() {
    return describeDifferences().isEmpty() && all().stream().allMatch(StressItem::isSettled);
  }

  /**
   * Compares the counts of the scope with the outcomes that senders, handlers and the listener
   * recorded. Returns an empty text if they agree.
   */
  private String describeDifferences() {
    var text = new StringBuilder();
    long outcomes =
        all().stream().filter(i -> i.isRequest() || i.handlerReturns.get() + i.letterCount.get() > 0).count();
    var report = scope.report();
    compare(text, "handled", report.handled(),
        all().stream().filter(item -> item.handlerReturns.get() > 0 || item.received).count());
    compare(text, "FAILED", report.unhandled().get(DeadLetter.Reason.FAILED),
        all().stream().filter(item -> item.fails && item.handlerBegins.get() > 0 && !item.received).count());
    report.unhandled().forEach((reason, count) -> compareLetters(text, reason, count));
    long sum = report.handled() + report.unhandled().values().stream().mapToLong(Long::longValue).sum();
    compare(text, "all", sum, outcomes);
    return text.toString();
  }

  /**
   * Compares the count with the recorded dead letters. These are a lower bound, because the scope
   * also counts unhandled requests, which are no dead letters.
   */
  private void compareLetters(StringBuilder text, DeadLetter.Reason reason, long counted) {
    long recorded = all().stream().filter(item -> item.letterReason == reason).count();
    if (counted < recorded)
      text.append(reason).append(": scope ").append(counted).append(", letters ").append(recorded).append("; ");
  }

  private static void compare(StringBuilder text, String name, long counted, long recorded) {
    if (counted != recorded)
      text.append(name).append(": scope ").append(counted).append(", recorded ").append(recorded).append("; ");
  }

  private String describe() {
    return " [" + mailboxKind + ", " + ending + " at " + endAfterMessages + " of " + senders + "x" + messagesPerSender
        + ", interrupts " + interrupts + ", " + strategy + ", " + ActorInternals.describe(actor) + "]";
  }
}
