package io.fibry;

import io.fibry.StressItem.Kind;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.RejectedExecutionException;

/** One sender of a stress round, with its next message and the outcomes that it is told. */
final class StressSender implements Runnable {
  private static final Kind[] KINDS = Kind.values();

  private final StressRound round;
  private final int me;
  private final SplittableRandom random;
  private final List<StressItem> items; // the round reads it after this thread has ended
  private int number;

  StressSender(StressRound round, int me, SplittableRandom random, List<StressItem> items) {
    this.round = round;
    this.me = me;
    this.random = random;
    this.items = items;
  }

  @Override
  public void run() {
    round.meet();
    try {
      while (number < round.each) {
        StressRound.jitter(random);
        send(KINDS[random.nextInt(KINDS.length)]);
      }
    } catch (Throwable failure) {
      round.fault("sender " + me + " failed: " + failure + List.of(failure.getStackTrace()));
    }
  }

  private StressItem next(Kind kind) {
    boolean noBlock = kind == Kind.BLOCK && round.box == StressRound.Box.PRIORITY;
    var item = new StressItem(round, me, number++, noBlock ? Kind.TELL : kind, random.nextInt(20) == 0);
    item.payload = item.number + 1;
    items.add(item);
    if (round.progress.incrementAndGet() == round.endAt) round.end();
    return item;
  }

  private void send(Kind kind) {
    var item = next(kind);
    var actor = round.actor;
    switch (item.kind) {
      case TELL -> item.refused = !actor.sendMessage(item);
      case BLOCK -> sendBlock(item);
      case TASK -> execute(item);
      case TIMER -> actor.sendMessageLater(item, Duration.ofNanos(random.nextInt(1_000_000)));
      case ASK -> ask(item, Patience.LONG);
      case ASK_SHORT -> ask(item, Duration.ofNanos(1 + random.nextInt(30_000)));
      case FUTURE, FUTURE_CANCELLED -> item.future = actor.sendMessageReturn(item);
    }
    if (item.kind == Kind.FUTURE_CANCELLED) {
      StressRound.jitter(random);
      item.future.cancel(random.nextBoolean());
    }
    if (round.interrupts && random.nextInt(3) == 0) Thread.interrupted();
  }

  private void sendBlock(StressItem first) {
    var block = new ArrayList<>(List.of(first, next(Kind.BLOCK)));
    if (random.nextBoolean()) block.add(next(Kind.BLOCK));
    boolean taken = round.actor.sendMessages(block);
    for (var item : block) item.refused = !taken;
  }

  private void execute(StressItem item) {
    try {
      round.actor.execute(item);
    } catch (RejectedExecutionException refused) {
      item.refused = true;
    }
  }

  private void ask(StressItem item, Duration limit) {
    try {
      int answer = limit.toSeconds() > 0 && random.nextBoolean() ? round.actor.ask(item) : round.actor.ask(item, limit);
      if (answer != item.number) item.thrown = new AssertionError("got the answer " + answer);
    } catch (Throwable failure) {
      item.thrown = failure;
      if (failure instanceof CancellationException && !Thread.currentThread().isInterrupted())
        item.thrown = new AssertionError("interrupted, and the flag is lost");
    }
  }
}
