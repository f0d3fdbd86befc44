package io.fibry.durable;

import io.fibry.ExitReason;
import io.fibry.Exitable;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Its life is that of another. */
abstract class Fronted implements Exitable {

  abstract Exitable front();

  static Exitable behind(Exitable one) {
    return one instanceof Fronted fronted ? fronted.front() : one;
  }

  @Override
  public final String name() {
    return front().name();
  }

  @Override
  public final void askExit() {
    front().askExit();
  }

  @Override
  public final void sendPoisonPill() {
    front().sendPoisonPill();
  }

  @Override
  public final void kill() {
    front().kill();
  }

  @Override
  public final void waitForExit() {
    front().waitForExit();
  }

  @Override
  public final boolean waitForExit(Duration limit) {
    return front().waitForExit(limit);
  }

  @Override
  public final CompletableFuture<ExitReason> onExit() {
    return front().onExit();
  }

  @Override
  public final void close() {
    front().close();
  }

  @Override
  public final String toString() {
    return front().toString();
  }
}
