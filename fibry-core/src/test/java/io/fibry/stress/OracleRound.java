package io.fibry.stress;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.engine.cell.ActorInternals;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Entities;
import io.fibry.pool.Pools;
import io.fibry.stress.SentMessage.Kind;
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
import java.util.concurrent.locks.LockSupport;

/**
 * A round of {@link OracleTest}. Senders of random kinds send to actors of random kinds, while
 * actors or the scope end at random moments. Afterwards the outcome that each sender got must agree
 * with the work of the handlers.
 */
final class OracleRound {
  private static final Duration PATIENCE = Patience.LONG;
  private static final Strategy[] STRATEGIES = {Strategy.FIBER, Strategy.THREAD, Strategy.RESIDENT_FIBER,
    Strategy.CALLER, activation -> Thread.ofPlatform().daemon().start(activation)};

  /** An actor or an entity, and its handler. */
  private enum TargetKind {
    ACTOR(1), PRIORITY(1), INLINE_REQUESTS(1), POOL(2), WEIGHTED_POOL(3), POOL_BY_KEY(2), ENTITY(1);

    final int maxRunning; // of handlers at the same time

    TargetKind(int maxRunning) {
      this.maxRunning = maxRunning;
    }

    /** Returns ACTOR as often as three other kinds together. */
    static TargetKind random(SplittableRandom random) {
      return values()[Math.max(0, random.nextInt(values().length + 2) - 2)];
    }
  }

  private final class Target {
    final String label;
    final Actor<OracleMessage> actor;
    final int retries;
    private final AtomicInteger runningHandlers = new AtomicInteger();
    private final int maxRunning;
    final boolean isEntity;
    private boolean toggle; // plain; each handler changes it, to detect a second handler at the same time
    volatile boolean endedByForce; // the target was killed

    Target(SplittableRandom random) {
      retries = random.nextInt(3);
      var strategy = STRATEGIES[random.nextInt(STRATEGIES.length)];
      var policy = (switch (random.nextInt(4)) {
        case 0 -> FailurePolicy.restart();
        case 1 -> FailurePolicy.restart().withBackoff(Duration.ofNanos(100_000), Duration.ofMillis(1));
        default -> FailurePolicy.resume();
      }).withRetries(retries).withoutLog();
      ActorBuilder<OracleMessage> builder =
          scope.anonymous().protocol(OracleMessage.class).strategy(strategy).onFailure(policy);
      var kind = TargetKind.random(random);
      isEntity = kind == TargetKind.ENTITY;
      int capacity = 2 + random.nextInt(12);
      var mailbox = switch (random.nextInt(6)) {
        case 0 -> Mailbox.bounded(capacity, Overflow.REJECT);
        case 1 -> Mailbox.bounded(capacity, Overflow.DROP_NEWEST);
        case 2 -> Mailbox.bounded(capacity, Overflow.DROP_OLDEST);
        case 3 -> Mailbox.bounded(capacity, Overflow.BLOCK);
        default -> Mailbox.unbounded();
      };
      maxRunning = kind.maxRunning;
      label = kind + ", " + strategy + ", " + mailbox + ", " + retries + " retries, " + policy;
      actor = switch (kind) {
        case PRIORITY -> newActor(builder.mailbox(Mailbox.<OracleMessage>priority(OracleMessage::compareTo)));
        case INLINE_REQUESTS -> newActor(builder.mailbox(Mailbox.unbounded()).inlineRequests());
        case POOL -> newActor(Pools.fixed(builder.mailbox(mailbox), 2));
        case WEIGHTED_POOL -> newActor(
            Pools.weighted(builder.mailbox(mailbox), 3, (OracleMessage m) -> 1 + (m.number & 1)));
        case POOL_BY_KEY -> newActor(Pools.byKey(builder.mailbox(mailbox), 2, (OracleMessage m) -> m.number & 3));
        case ENTITY -> Entities
            .open(builder, Duration.ofMillis(1), (ActorBuilder<OracleMessage> b, Integer key) -> newActor(b)).actor(1);
        case ACTOR -> newActor(builder.mailbox(mailbox));
      };
    }

    String describe() {
      return isEntity ? "" : " [" + ActorInternals.describe(actor) + "]";
    }

    private Actor<OracleMessage> newActor(ActorBuilder<OracleMessage> builder) {
      return builder.initialState(Object::new).newActor(
          (Object state, OracleMessage message, ActorContext<OracleMessage> context) -> handle(message, context));
    }

    private void handle(OracleMessage message, ActorContext<OracleMessage> context) throws Exception {
      message.handlerBegins.incrementAndGet();
      boolean overlaps = runningHandlers.incrementAndGet() > maxRunning;
      boolean toggleBefore = toggle;
      jitter(message.number);
      overlaps |= maxRunning == 1 && toggleBefore != toggle;
      toggle = !toggleBefore;
      runningHandlers.decrementAndGet();
      if (overlaps) violations.add("two handlers at once, at " + message + " of " + label);
      if (message.handlerFailures.get() < message.plannedFailures) {
        message.handlerFailures.incrementAndGet();
        throw SentMessage.PLANNED;
      }
      message.handlerReturns.incrementAndGet();
      if (message.isRequest()) context.reply(message, message.number);
    }
  }

  private static final List<Kind> KINDS =
      List.of(Kind.TELL, Kind.TIMER, Kind.FUTURE, Kind.FUTURE_CANCELLED, Kind.ASK, Kind.ASK_SHORT);

  private final SplittableRandom random;
  private final ActorScope scope;
  private final ActorScope outerScope; // contains the actors whose handlers run senders
  private final List<Target> targets = new ArrayList<>();
  private final Queue<OracleMessage> messages = new ConcurrentLinkedQueue<>();
  private final Queue<String> violations = new ConcurrentLinkedQueue<>();
  private final AtomicInteger numbers = new AtomicInteger();
  private final boolean interrupts;
  private final int messagesPerSender;
  /** The numbers of the messages before which an actor or the scope is ended. */
  private final ConcurrentSkipListSet<Long> endsBefore = new ConcurrentSkipListSet<>();
  private volatile boolean endedByForce; // the scope was closed with a short limit, or its close was interrupted

  OracleRound(SplittableRandom random) {
    this.random = random;
    this.interrupts = random.nextInt(4) == 0;
    this.messagesPerSender = 20 + random.nextInt(100);
    this.scope =
        ActorSystem.openScope("oracle",
            o -> o.withKillGrace(PATIENCE).withDeadLetterListener(SentMessage::recordLetter));
    this.outerScope = ActorSystem.openScope("outside");
    for (int i = 1 + random.nextInt(3); i > 0; i--) targets.add(new Target(random));
  }

  /** Plays the round, and returns the number of messages. */
  long play() throws InterruptedException {
    int senders = 1 + random.nextInt(4);
    for (int i = random.nextInt(4); i > 0; i--) endsBefore.add(random.nextLong((long) senders * messagesPerSender));
    var threads = new ArrayList<Thread>();
    for (int i = 0; i < senders; i++) {
      var senderRandom = random.split();
      Runnable sender = () -> send(senderRandom);
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
      throw new AssertionError("a sender hangs: " + List.of(thread.getStackTrace()) + outerScope.dump() + scope.dump());
    scope.closeWithin(PATIENCE);
    outerScope.close();
    check();
    return messages.size();
  }

  /** Runs a sender in the handler of an actor of {@code outerScope}. */
  private void inHandler(Strategy strategy, Runnable sender) {
    Actor<Runnable> driver;
    try {
      driver = outerScope.anonymous().strategy(strategy).newActor((Runnable code) -> code.run());
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

  static void jitter(long dice) {
    switch ((int) (dice * 7 % 41)) {
      case 0 -> Thread.yield();
      case 1, 2 -> Thread.onSpinWait();
      case 3, 4 -> LockSupport.parkNanos(1 + dice % 200_000);
      default -> {}
    }
  }

  // ---- code of a sender

  private void send(SplittableRandom senderRandom) {
    try {
      for (int i = 0; i < messagesPerSender; i++) {
        sendOne(senderRandom, senderRandom.nextInt(targets.size()));
        if (interrupts && senderRandom.nextInt(3) == 0) Thread.interrupted();
      }
    } catch (Throwable failure) {
      violations.add("a sender failed: " + failure + List.of(failure.getStackTrace()));
    }
  }

  private void sendOne(SplittableRandom senderRandom, int index) {
    var target = targets.get(index);
    int number = numbers.getAndIncrement();
    if (endsBefore.remove((long) number)) end(senderRandom, target);
    int plannedFailures = senderRandom.nextInt(8) == 0 ? 1 + senderRandom.nextInt(3) : 0;
    var kind = KINDS.get(senderRandom.nextInt(KINDS.size()));
    var message = new OracleMessage(number, kind, index, plannedFailures, target.retries);
    messages.add(message);
    try {
      message.send(target.actor, senderRandom, 500_000);
    } catch (IllegalStateException | RejectedExecutionException creationFailure) {
      // no entity was created, because of an interrupt, a closed scope, or a missing thread
      if (!target.isEntity) throw creationFailure;
      message.refused = true;
      message.failure = creationFailure;
    }
  }

  private void end(SplittableRandom senderRandom, Target target) {
    int wayToEnd = senderRandom.nextInt(7);
    if (wayToEnd == 2 || wayToEnd == 3) target.endedByForce = true;
    if (wayToEnd == 5) endedByForce = true;
    try {
      switch (wayToEnd) {
        case 0 -> target.actor.sendPoisonPill();
        case 1 -> target.actor.askExit();
        case 2, 3 -> target.actor.kill();
        case 4 -> target.actor.close();
        case 5 -> scope.closeWithin(Duration.ofNanos(1 + senderRandom.nextInt(1_000_000)));
        default -> scope.closeWithin(PATIENCE);
      }
    } catch (CancellationException interrupted) {
      if (wayToEnd >= 5) endedByForce = true;
      if (!Thread.currentThread().isInterrupted())
        violations.add("an end was interrupted, and the interrupt flag is lost");
    }
  }

  // ---- checks after the round

  private void check() throws InterruptedException {
    for (var message : messages) message.settle();
    // the last sender or timer may record its outcome after the close of the scope
    Patience.comesTrue(() -> messages.stream().allMatch(OracleMessage::isSettled));
    for (var message : messages) {
      var target = targets.get(message.target);
      var violation = message.violation(target.isEntity, endedByForce || target.endedByForce, interrupts);
      if (violation != null) violations.add(message + " of " + target.label + " " + violation + target.describe());
    }
    if (!violations.isEmpty()) throw new AssertionError(
        violations.size() + " violations, ended by force: " + endedByForce + ", interrupts " + interrupts + ": "
            + violations.stream().limit(8).toList());
  }
}
