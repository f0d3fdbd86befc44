package io.fibry.flow;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ExitReason;
import io.fibry.Handler;
import io.fibry.RequestException;
import io.fibry.block.Arguments;
import io.fibry.block.ForwardingActor;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.spi.BlockBuilder;
import io.fibry.text.Durations;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;

/**
 * A gatherer, which takes all messages, and a writer, which handles batches. At its end the
 * gatherer hands over its batch and waits for the writer's end. A writer that ends first asks the
 * gatherer to exit. The writer is made first, because a scope ends the newest actor first.
 */
final class BatchActor<M> extends ForwardingActor<M> {
  private static final int CAPACITY = 1024;

  private final Actor<Object> writer;
  private final Actor<M> gatherer;
  private final CompletableFuture<ExitReason> bothEnded; // completes when both actors have ended
  // the thread that is in the batch handler, which writes this field; null if there is none
  private volatile Thread writerThread;

  /**
   * Adds interceptors that handle batches and the messages of timers. They run outside of the
   * user's interceptors, which therefore do not see these messages.
   */
  private <B> BatchActor(ActorBuilder<Object> builder, BatchKind<M, B> kind, int size, Duration wait,
      Handler<B> handler) {
    writer = BlockBuilder.of(builder).child("batch").excludedFromAccounts().mailbox(Mailbox.bounded(1, Overflow.BLOCK))
        .intercept((batch, next) -> write(handler, batch)).newActor(batch -> {});
    try {
      gatherer = gatherer(builder, new PendingBatch<>(kind, size, wait, BlockBuilder.of(builder).scheduler(), writer));
    } catch (Throwable failure) {
      writer.askExit();
      throw failure;
    }
    bothEnded = gatherer.onExit().thenCombine(writer.onExit(),
        (gathererReason, writerReason) -> writerReason instanceof ExitReason.Failed ? writerReason : gathererReason);
    gatherer.closeOnExit(this::endWriter);
    writer.closeOnExit(gatherer::askExit);
  }

  @SuppressWarnings("unchecked")
  static <M, B> Actor<M> open(ActorBuilder<? super M> builder, BatchKind<M, B> kind, int size, Duration wait,
      Handler<B> handler) {
    Objects.requireNonNull(builder, "builder");
    Objects.requireNonNull(handler, "handler");
    Arguments.requireAtLeastOne(size, "a batch of " + size + " messages would never be full");
    Arguments.requirePositive(wait, "wait", "a batch cannot wait " + Durations.text(wait) + " for its messages");
    if (BlockBuilder.of(builder).mailbox().isOrdered()) throw new IllegalArgumentException(
        "a batch is timed by messages of its own, which a priority mailbox cannot order; give it another mailbox");
    if (BlockBuilder.of(builder).isPooled())
      throw new IllegalArgumentException("the workers of a pool would gather a batch each; give a builder of actors");
    var boundedBuilder =
        (ActorBuilder<Object>) BlockBuilder.of(builder).defaultMailbox(Mailbox.bounded(CAPACITY, Overflow.BLOCK));
    return new BatchActor<>(boundedBuilder, kind, size, wait, handler);
  }

  @SuppressWarnings("unchecked")
  private static <M, B> Actor<M> gatherer(ActorBuilder<Object> builder, PendingBatch<M, B> batch) {
    ActorBuilder<Object> timedBuilder = builder.intercept((message, next) -> {
      if (message instanceof PendingBatch.BatchExpiry expiry) expiry.handle();
      else next.run();
    });
    Actor<Object> actor =
        timedBuilder.initialState(() -> batch).onStop(PendingBatch::handOverLast).newActor((PendingBatch<M, B> state,
            Object message, ActorContext<Object> context) -> state.add((M) message, context.self()));
    return (Actor<M>) (Actor<?>) actor;
  }

  @SuppressWarnings("unchecked")
  private <B> void write(Handler<B> handler, Object batch) throws Exception {
    writerThread = Thread.currentThread();
    try {
      handler.handle((B) batch);
    } finally {
      writerThread = null;
    }
  }

  private void endWriter() {
    writer.sendPoisonPill();
    try {
      writer.waitForExit();
    } catch (CancellationException interrupted) {
      writer.kill();
    } catch (RequestException cycle) {
      // the batch handler waits for the gatherer, and continues after the gatherer's end
    }
  }

  @Override
  protected Actor<M> target() {
    return gatherer;
  }

  @Override
  public void kill() {
    gatherer.kill();
    writer.kill();
  }

  @Override
  public void waitForExit() {
    actorToAwait().waitForExit();
    writer.waitForExit();
    bothEnded.join();
  }

  @Override
  public boolean waitForExit(Duration limit) {
    long start = System.nanoTime();
    if (!actorToAwait().waitForExit(limit)) return false;
    var remaining = limit.minusNanos(System.nanoTime() - start);
    if (!writer.waitForExit(remaining.isNegative() ? Duration.ZERO : remaining)) return false;
    bothEnded.join();
    return true;
  }

  /**
   * Returns the actor to wait for first. In the batch handler this is the writer, which refuses
   * such a wait as a cycle.
   */
  private Actor<?> actorToAwait() {
    return writerThread == Thread.currentThread() ? writer : gatherer;
  }

  /** Returns a copy, because the caller may complete the future. */
  @Override
  public CompletableFuture<ExitReason> onExit() {
    return bothEnded.copy();
  }

  /** Gives the resources to the writer, because it ends last, unless both are killed. */
  @Override
  public BatchActor<M> closeOnExit(AutoCloseable... resources) {
    writer.closeOnExit(resources);
    return this;
  }

  @Override
  public void close() {
    if (actorToAwait() == writer) sendPoisonPill();
    else gatherer.close();
    if (gatherer.onExit().isDone()) waitForExit();
  }
}
