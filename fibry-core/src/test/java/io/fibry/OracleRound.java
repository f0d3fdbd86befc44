package io.fibry;

import static io.fibry.OracleMessage.Kind;

import io.fibry.engine.cell.Inside;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Entities;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * A scope with some actors of any kind, senders on any kind of thread, and ends at random moments.
 * Afterwards the outcome that each sender was told must agree with the handled messages.
 */
final class OracleRound {
  private static final Duration PATIENCE = Patience.LONG;
  private static final Strategy[] STRATEGIES = {Strategy.FIBER, Strategy.THREAD, Strategy.RESIDENT_FIBER,
    Strategy.CALLER, activation -> Thread.ofPlatform().daemon().start(activation)};

  /** An actor, or an address of entities, and how it handles. */
  private final class Target {
    final String label;
    final Actor<OracleMessage> actor;
    final int retries;
    private final AtomicInteger atOnce = new AtomicInteger();
    private final int most; // handlers at once
    final boolean isEntity;
    private boolean twin; // by handlers, one at a time
    volatile boolean hard; // killed, or closed by force

    Target(SplittableRandom random) {
      retries = random.nextInt(3);
      var strategy = STRATEGIES[random.nextInt(STRATEGIES.length)];
      var policy = (switch (random.nextInt(4)) {
        case 0 -> FailurePolicy.restart();
        case 1 -> FailurePolicy.restart().withBackoff(Duration.ofNanos(100_000), Duration.ofMillis(1));
        default -> FailurePolicy.resume();
      }).withRetries(retries).withoutLog();
      ActorBuilder<OracleMessage> how =
          scope.anonymous().protocol(OracleMessage.class).strategy(strategy).onFailure(policy);
      int kind = random.nextInt(9);
      isEntity = kind == 8;
      int room = 2 + random.nextInt(12);
      var mailbox = switch (random.nextInt(6)) {
        case 0 -> Mailbox.bounded(room, Overflow.REJECT);
        case 1 -> Mailbox.bounded(room, Overflow.DROP_NEWEST);
        case 2 -> Mailbox.bounded(room, Overflow.DROP_OLDEST);
        case 3 -> Mailbox.bounded(room, Overflow.BLOCK);
        default -> Mailbox.unbounded();
      };
      most = kind == 5 || kind == 7 ? 2 : kind == 6 ? 3 : 1;
      label = kind + ", " + strategy + ", " + mailbox + ", " + retries + " retries, " + policy;
      actor = switch (kind) {
        case 3 -> made(how.mailbox(Mailbox.<OracleMessage>priority(OracleMessage::compareTo)));
        case 4 -> made(how.mailbox(Mailbox.unbounded()).inlineRequests());
        case 5 -> made(Pools.fixed(how.mailbox(mailbox), 2));
        case 6 -> made(Pools.weighted(how.mailbox(mailbox), 3, (OracleMessage m) -> 1 + (int) (m.number & 1)));
        case 7 -> made(Pools.byKey(how.mailbox(mailbox), 2, (OracleMessage m) -> m.number & 3));
        case 8 -> Entities.open(how, Duration.ofMillis(1), (ActorBuilder<OracleMessage> one, Integer key) -> made(one))
            .actor(1);
        default -> made(how.mailbox(mailbox));
      };
    }

    String describe() {
      return isEntity ? "" : " [" + Inside.describe(actor) + "]";
    }

    private Actor<OracleMessage> made(ActorBuilder<OracleMessage> how) {
      return how.initialState(Object::new).newActor(
          (Object state, OracleMessage message, ActorContext<OracleMessage> context) -> handle(message, context));
    }

    private void handle(OracleMessage message, ActorContext<OracleMessage> context) throws Exception {
      message.begun.incrementAndGet();
      boolean wrong = atOnce.incrementAndGet() > most;
      boolean was = twin;
      jitter(message.number);
      wrong |= most == 1 && was != twin;
      twin = !was;
      atOnce.decrementAndGet();
      if (wrong) faults.add("two handlers at once, at " + message + " of " + label);
      if (message.threw.get() < message.failures) {
        message.threw.incrementAndGet();
        throw PLANNED;
      }
      message.returned.incrementAndGet();
      if (message.isRequest()) context.reply(message, message.number);
    }
  }

  private static final OracleMessage.Planned PLANNED = new OracleMessage.Planned();

  private final SplittableRandom random;
  private final ActorScope scope;
  private final ActorScope outside; // of actors that send
  private final List<Target> targets = new ArrayList<>();
  private final Queue<OracleMessage> messages = new ConcurrentLinkedQueue<>();
  private final Queue<String> faults = new ConcurrentLinkedQueue<>();
  private final AtomicLong numbers = new AtomicLong();
  private final boolean interrupts;
  private final int each;
  private final ConcurrentSkipListSet<Long> ends = new ConcurrentSkipListSet<>(); // when something ends
  private volatile boolean hard; // the scope was closed by force

  OracleRound(SplittableRandom random) {
    this.random = random;
    this.interrupts = random.nextInt(4) == 0;
    this.each = 20 + random.nextInt(100);
    this.scope = ActorSystem.openScope("oracle", options -> options.withKillGrace(PATIENCE).withDeadLetters(letter -> {
      var message = (OracleMessage) letter.message();
      message.letter = letter.reason();
      message.letters.incrementAndGet();
    }));
    this.outside = ActorSystem.openScope("outside");
    for (int i = 1 + random.nextInt(3); i > 0; i--) targets.add(new Target(random));
  }

  /** Returns the number of messages. */
  long play() throws InterruptedException {
    int senders = 1 + random.nextInt(4);
    for (int i = random.nextInt(4); i > 0; i--) ends.add(random.nextLong((long) senders * each));
    var threads = new ArrayList<Thread>();
    for (int i = 0; i < senders; i++) {
      var mine = random.split();
      Runnable sender = () -> send(mine);
      threads.add(switch (random.nextInt(4)) {
        case 0 -> Thread.ofVirtual().unstarted(sender);
        case 1 -> Thread.ofPlatform().unstarted(() -> inHandler(Strategy.FIBER, sender));
        case 2 -> Thread.ofPlatform().unstarted(() -> inHandler(Strategy.THREAD, sender));
        default -> Thread.ofPlatform().unstarted(sender);
      });
    }
    threads.forEach(Thread::start);
    if (interrupts) interruptSome(threads);
    for (var thread : threads) if (!thread.join(PATIENCE.multipliedBy(2)))
      throw new AssertionError("a sender hangs: " + List.of(thread.getStackTrace()) + outside.dump() + scope.dump());
    scope.closeWithin(PATIENCE);
    outside.close();
    check();
    return messages.size();
  }

  /** Runs a sender in the handler of an actor outside of the scope. */
  private void inHandler(Strategy strategy, Runnable sender) {
    Actor<Runnable> driver;
    try {
      driver = outside.anonymous().strategy(strategy).newActor((Runnable code) -> code.run());
    } catch (RejectedExecutionException noThread) {
      sender.run();
      return;
    }
    driver.sendMessage(sender);
    driver.sendPoisonPill();
    while (!driver.onExit().isDone()) {
      try {
        driver.waitForExit();
      } catch (CancellationException interrupted) {
        Thread.interrupted();
      }
    }
  }

  private void interruptSome(List<Thread> threads) {
    for (int i = 0; i < 20; i++) {
      LockSupport.parkNanos(1 + random.nextInt(200_000));
      threads.get(random.nextInt(threads.size())).interrupt();
    }
  }

  private static void jitter(long dice) {
    switch ((int) (dice * 7 % 41)) {
      case 0 -> Thread.yield();
      case 1, 2 -> Thread.onSpinWait();
      case 3, 4 -> LockSupport.parkNanos(1 + dice % 200_000);
      default -> {}
    }
  }

  // ---- a sender

  private void send(SplittableRandom mine) {
    try {
      for (int i = 0; i < each; i++) {
        sendOne(mine, mine.nextInt(targets.size()));
        if (interrupts && mine.nextInt(3) == 0) Thread.interrupted();
      }
    } catch (Throwable failure) {
      faults.add("a sender failed: " + failure + List.of(failure.getStackTrace()));
    }
  }

  private void sendOne(SplittableRandom mine, int index) {
    var target = targets.get(index);
    long number = numbers.getAndIncrement();
    if (ends.remove(number)) end(mine, target);
    int failures = mine.nextInt(8) == 0 ? 1 + mine.nextInt(3) : 0;
    var kinds = Kind.values();
    var message = new OracleMessage(number, kinds[mine.nextInt(kinds.length)], index, failures, target.retries);
    messages.add(message);
    try {
      send(message, target.actor, mine);
    } catch (IllegalStateException | RejectedExecutionException notBorn) {
      // interrupted before a new life, in a closed scope, or without a thread
      if (!target.isEntity) throw notBorn;
      message.refused = true;
      message.told = notBorn;
    }
  }

  private void send(OracleMessage message, Actor<OracleMessage> actor, SplittableRandom mine) {
    switch (message.kind) {
      case MESSAGE -> message.refused = !actor.sendMessage(message);
      case LATER -> actor.sendMessageLater(message, Duration.ofNanos(mine.nextInt(1_000_000)));
      case FUTURE -> message.future = actor.sendMessageReturn(message);
      case CANCELLED_FUTURE -> {
        message.future = actor.sendMessageReturn(message);
        jitter(mine.nextInt(50_000));
        message.future.cancel(true);
      }
      case ASK -> ask(message, actor, PATIENCE);
      case SHORT_ASK -> ask(message, actor, Duration.ofNanos(1 + mine.nextInt(500_000)));
    }
  }

  private void ask(OracleMessage message, Actor<OracleMessage> actor, Duration limit) {
    try {
      long answer = actor.ask(message, limit);
      if (answer != message.number) message.told = new AssertionError("got the answer " + answer);
    } catch (Throwable failure) {
      message.told = failure;
      if (failure instanceof CancellationException && !Thread.currentThread().isInterrupted())
        message.told = new AssertionError("interrupted, and the flag is lost");
    }
  }

  private void end(SplittableRandom mine, Target target) {
    int how = mine.nextInt(7);
    if (how == 2 || how == 3) target.hard = true;
    if (how == 5) hard = true;
    try {
      switch (how) {
        case 0 -> target.actor.sendPoisonPill();
        case 1 -> target.actor.askExit();
        case 2, 3 -> target.actor.kill();
        case 4 -> target.actor.close();
        case 5 -> scope.closeWithin(Duration.ofNanos(1 + mine.nextInt(1_000_000)));
        default -> scope.closeWithin(PATIENCE);
      }
    } catch (CancellationException interrupted) {
      if (how >= 5) hard = true;
      if (!Thread.currentThread().isInterrupted()) faults.add("an end was interrupted, and the flag is lost");
    }
  }

  // ---- the verdict

  private void check() throws InterruptedException {
    for (var message : messages) message.settle();
    // the last sender or timer may dispose of its message after the end; the faults show the others
    Patience.comesTrue(() -> messages.stream().allMatch(OracleMessage::isSettled));
    for (var message : messages) {
      var target = targets.get(message.target);
      var fault = message.fault(target.isEntity, hard || target.hard, interrupts);
      if (fault != null) faults.add(message + " of " + target.label + " " + fault + target.describe());
    }
    if (!faults.isEmpty()) throw new AssertionError(
        faults.size() + " faults, hard " + hard + ", interrupts " + interrupts + ": "
            + faults.stream().limit(8).toList());
  }
}
