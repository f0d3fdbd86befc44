package io.fibry.simulation;

import java.util.Locale;

/** The kinds of faults. Each has chance of its own, so that one more or less changes no other. */
enum FaultKind {
  KILLS,
  DELAYS,
  STALLS,
  JUMPS,
  THREADS,
  MAILBOXES,
  NETWORK,
  DISKS;

  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  static FaultKind of(String label) {
    return valueOf(label.toUpperCase(Locale.ROOT));
  }
}
