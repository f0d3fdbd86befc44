package io.fibry.testing;

import io.fibry.ExitReason;
import io.fibry.Exitable;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** An {@link Exitable} that is no actor. It has ended once the future {@link #exit} is complete. */
public final class FutureExitable implements Exitable {
  public final CompletableFuture<ExitReason> exit = new CompletableFuture<>();

  @Override
  public String name() {
    return "server";
  }

  @Override
  public void askExit() {
    exit.complete(new ExitReason.Stopped());
  }

  @Override
  public void sendPoisonPill() {
    askExit();
  }

  @Override
  public void kill() {
    askExit();
  }

  @Override
  public void waitForExit() {
    exit.join();
  }

  @Override
  public boolean waitForExit(Duration limit) {
    return exit.isDone();
  }

  @Override
  public CompletableFuture<ExitReason> onExit() {
    return exit;
  }

  @Override
  public Exitable closeOnExit(AutoCloseable... resources) {
    return this;
  }

  @Override
  public void close() {
    askExit();
  }
}
