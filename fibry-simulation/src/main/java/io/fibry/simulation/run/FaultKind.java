package io.fibry.simulation.run;

import java.util.Locale;

/**
 * The kinds of faults. Each kind has random numbers of its own, so a kind that is added or left out
 * does not change the others. The random numbers of {@link #DISKS} choose the unsynced data that
 * survives a crash of a node.
 */
public enum FaultKind {
  KILLS,
  DELAYS,
  STALLS,
  JUMPS,
  THREADS,
  MAILBOXES,
  NETWORK,
  DISKS;

  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static FaultKind of(String label) {
    return valueOf(label.toUpperCase(Locale.ROOT));
  }
}
