package io.fibry.stress;

import io.fibry.testing.StressRuns;
import java.util.SplittableRandom;

/** A message of a stress round. If it is sent as a task, it calls the handler itself. */
final class StressItem extends SentMessage<StressItem> implements Runnable {
  final StressRound round;
  final int sender;
  final boolean fails;
  volatile boolean received; // a handler took the message by `receive`

  StressItem(StressRound round, int sender, int number, Kind kind, boolean fails) {
    super(number, kind);
    this.round = round;
    this.sender = sender;
    this.fails = fails;
  }

  int rank() {
    return number & 1;
  }

  @Override
  public void run() {
    round.handle(this, null);
  }

  @Override
  protected boolean omitsLimit(SplittableRandom random) {
    return random.nextBoolean();
  }

  @Override
  protected boolean pauseBeforeCancel(SplittableRandom random) {
    StressRuns.jitter(random);
    return random.nextBoolean();
  }

  /**
   * Returns a text about a contradiction between the recorded outcomes of this message, or null.
   */
  String violation() {
    String violation = countViolation(1);
    if (violation != null) return violation;
    boolean begun = handlerBegins.get() == 1;
    return isRequest() ? requestFault(begun && !fails, begun && fails, round.isKilled(), round.interrupts)
        : messageFault();
  }

  @Override
  public String toString() {
    return kind + " " + sender + "/" + number;
  }
}
