package io.fibry.engine.scope;

import io.fibry.spi.ActorTotals.Worst;
import java.util.Optional;

/**
 * Finds the actor with the highest amount among the actors of one name. The actor that was found
 * last remains while its amount is high enough, because each new name is a new series of a
 * monitoring system. Guarded by the monitor of the totals.
 */
final class NamedMaximum {
  /** An advantage: another actor replaces the last one if it has over a tenth more. */
  static final int TENTH = 110;
  /** An advantage: no other actor replaces the last one. */
  static final int UNLIMITED = Integer.MAX_VALUE;

  private final long min;
  private final int percent;
  private String last; // the actor that was found last; null if there is none
  private long lastAmount; // the present amount of this actor; 0 if it was not added
  private String actor; // the actor with the highest amount; null if none was added
  private long amount; // the highest amount, such as messages or workers; 0 if none was added

  /**
   * @param min the lowest amount of an actor that is found
   * @param percent the last actor remains unless another has more than this share of its amount
   */
  NamedMaximum(long min, int percent) {
    this.min = min;
    this.percent = percent;
  }

  /** Begins a read. An earlier reader may have failed after it added some actors. */
  void beginRead() {
    lastAmount = 0;
    actor = null;
    amount = 0;
  }

  /** Adds the amount of a living actor. */
  void add(String candidate, long candidateAmount) {
    if (candidateAmount > lastAmount && candidate.equals(last)) lastAmount = candidateAmount;
    if (candidateAmount <= amount) return;
    amount = candidateAmount;
    actor = candidate;
  }

  /** Ends a read, and returns the actor. */
  Optional<Worst> update() {
    boolean keepsLast = lastAmount >= min && amount <= lastAmount * percent / 100;
    var worst = amount < min ? null : keepsLast ? new Worst(last, lastAmount) : new Worst(actor, amount);
    last = worst == null ? null : worst.actor();
    return Optional.ofNullable(worst);
  }
}
