package io.fibry.pool;

import io.fibry.Exitable;
import java.util.function.Consumer;

/** How actors end. Later constants overrule earlier constants. */
enum EntityEndMode {
  FINISH(Exitable::sendPoisonPill), STOP(Exitable::askExit), KILL(Exitable::kill);

  final Consumer<Exitable> signal;

  EntityEndMode(Consumer<Exitable> signal) {
    this.signal = signal;
  }
}
