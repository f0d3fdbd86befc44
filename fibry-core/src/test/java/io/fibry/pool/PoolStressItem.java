package io.fibry.pool;

import io.fibry.stress.SentMessage;
import java.util.SplittableRandom;

/** A message or task for a pool under stress. */
final class PoolStressItem extends SentMessage<PoolStressItem> implements Runnable {
  final PoolStressRound round;
  final int sender;
  final int weight;
  final int key;
  final boolean fails;

  PoolStressItem(PoolStressRound round, int sender, int number, Kind kind, int weight, int key, boolean fails) {
    super(number, kind);
    this.round = round;
    this.sender = sender;
    this.weight = kind == Kind.TASK ? 1 : weight;
    this.key = key;
    this.fails = fails;
    this.payload = number + 1;
  }

  @Override
  public void run() {
    round.handle(null, this, null);
  }

  @Override
  protected boolean pauseBeforeCancel(SplittableRandom random) {
    PoolStressRound.jitter(random.nextInt(100));
    return random.nextBoolean();
  }

  boolean hasOutcome() {
    return kind != Kind.TIMER || handlerReturns.get() + letterCount.get() > 0;
  }

  /** Returns a description of the wrong outcome of this item, or null if its outcome is right. */
  String violation() {
    String violation = countViolation(fails ? 1 + round.retries : 1);
    if (violation != null) return violation;
    int begins = handlerBegins.get();
    return isRequest() ? requestFault(begins == 1 && !fails, begins > 0 && fails, false, false) : messageFault();
  }

  @Override
  public String toString() {
    return kind + " " + sender + "/" + number;
  }
}
