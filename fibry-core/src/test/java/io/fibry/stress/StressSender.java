package io.fibry.stress;

import io.fibry.stress.StressItem.Kind;
import io.fibry.support.Patience;
import io.fibry.testing.StressRuns;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.RejectedExecutionException;

/** A sender of a stress round, which sends random messages and records their outcomes. */
final class StressSender implements Runnable {
  private static final Kind[] KINDS = Kind.values();

  private final StressRound round;
  private final int senderIndex;
  private final SplittableRandom random;
  private final List<StressItem> items; // the round reads it after this thread has ended
  private int number;

  StressSender(StressRound round, int senderIndex, SplittableRandom random, List<StressItem> items) {
    this.round = round;
    this.senderIndex = senderIndex;
    this.random = random;
    this.items = items;
  }

  @Override
  public void run() {
    round.awaitAllSenders();
    try {
      while (number < round.messagesPerSender) {
        StressRuns.jitter(random);
        send(KINDS[random.nextInt(KINDS.length)]);
      }
    } catch (Throwable failure) {
      round.fault("sender " + senderIndex + " failed: " + failure + List.of(failure.getStackTrace()));
    }
  }

  private StressItem next(Kind kind) {
    boolean refusesBatches = kind == Kind.BATCH && round.mailboxKind == StressRound.MailboxKind.PRIORITY;
    var item = new StressItem(round, senderIndex, number++, refusesBatches ? Kind.TELL : kind, random.nextInt(20) == 0);
    item.payload = item.number + 1;
    items.add(item);
    if (round.progress.incrementAndGet() == round.endAfterMessages) round.end();
    return item;
  }

  private void send(Kind kind) {
    var item = next(kind);
    var actor = round.actor;
    switch (item.kind) {
      case TELL -> item.refused = !actor.sendMessage(item);
      case BATCH -> sendBatch(item);
      case TASK -> execute(item);
      case TIMER -> actor.sendMessageLater(item, Duration.ofNanos(random.nextInt(1_000_000)));
      case ASK -> ask(item, Patience.LONG);
      case ASK_SHORT -> ask(item, Duration.ofNanos(1 + random.nextInt(30_000)));
      case FUTURE, FUTURE_CANCELLED -> item.future = actor.sendMessageReturn(item);
    }
    if (item.kind == Kind.FUTURE_CANCELLED) {
      StressRuns.jitter(random);
      item.future.cancel(random.nextBoolean());
    }
    if (round.interrupts && random.nextInt(3) == 0) Thread.interrupted();
  }

  private void sendBatch(StressItem first) {
    var batch = new ArrayList<>(List.of(first, next(Kind.BATCH)));
    if (random.nextBoolean()) batch.add(next(Kind.BATCH));
    boolean accepted = round.actor.sendMessages(batch);
    for (var item : batch) item.refused = !accepted;
  }

  private void execute(StressItem item) {
    try {
      round.actor.execute(item);
    } catch (RejectedExecutionException refusal) {
      item.refused = true;
    }
  }

  private void ask(StressItem item, Duration limit) {
    try {
      int answer = limit.toSeconds() > 0 && random.nextBoolean() ? round.actor.ask(item) : round.actor.ask(item, limit);
      if (answer != item.number) item.failure = new AssertionError("got the answer " + answer);
    } catch (Throwable failure) {
      item.failure = failure;
      if (failure instanceof CancellationException && !Thread.currentThread().isInterrupted())
        item.failure = new AssertionError("interrupted, and the interrupt flag is lost");
    }
  }
}
