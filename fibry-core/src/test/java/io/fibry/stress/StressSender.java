package io.fibry.stress;

import io.fibry.stress.SentMessage.Kind;
import io.fibry.testing.StressRuns;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

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
      round.addViolation("sender " + senderIndex + " failed: " + failure + List.of(failure.getStackTrace()));
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
    if (item.kind == Kind.BATCH) sendBatch(item);
    else item.send(round.actor, random, 30_000);
    if (round.interrupts && random.nextInt(3) == 0) Thread.interrupted();
  }

  private void sendBatch(StressItem first) {
    var batch = new ArrayList<>(List.of(first, next(Kind.BATCH)));
    if (random.nextBoolean()) batch.add(next(Kind.BATCH));
    boolean accepted = round.actor.sendMessages(batch);
    for (var item : batch) item.refused = !accepted;
  }
}
