package io.fibry.engine.scope;

import io.fibry.engine.cell.Cell;
import io.fibry.spi.ActorTotals.Worst;
import java.util.Optional;

/**
 * Finds the actor of a name that has the highest amount. The actor that was found last remains as
 * {@link #update} tells, because each new name is a new series of a monitoring system. Guarded by
 * the monitor of the totals.
 */
final class NamedMaximum {
  private String last; // the actor that was found last; null: none
  private long lastAmount; // of this actor now; 0: none
  private long amount; // the highest; messages or workers; 0: none
  private Cell cell; // has the highest amount; null between two reads, so that no ended actor stays in memory

  /** Begins a read. An earlier reader may have failed after it added some actors. */
  void beginRead() {
    lastAmount = 0;
    amount = 0;
  }

  /** Adds the amount of a living actor. */
  void add(Cell candidate, long candidateAmount) {
    if (candidateAmount > lastAmount && candidate.name().equals(last)) lastAmount = candidateAmount;
    if (candidateAmount <= amount) return;
    amount = candidateAmount;
    cell = candidate;
  }

  /**
   * Ends a read, and returns the actor. The last actor remains while it has an amount of at least
   * {@code min}, unless another has more than {@code percent} of its amount.
   */
  Optional<Worst> update(long min, int percent) {
    boolean keepsLast = lastAmount >= min && amount <= lastAmount * percent / 100;
    var worst = amount < min ? null : keepsLast ? new Worst(last, lastAmount) : new Worst(cell.name(), amount);
    last = worst == null ? null : worst.actor();
    cell = null;
    return Optional.ofNullable(worst);
  }
}
