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
 * Two actors: a gatherer, which takes all messages, and a writer, which handles batches. When the
 * gatherer ends, it hands over its batch and waits for the writer's end. If the writer ends first,
 * it asks the gatherer to exit. The writer is made first, because a closing scope ends the newest
 * actor first, and the gatherer must end before the writer.
 */
final class BatchActor<M> extends ForwardingActor<M> {
  private static final int CAPACITY = 1024;

  private final Actor<Object> writer;
  private final Actor<M> gatherer;
  private final CompletableFuture<ExitReason> bothEnded; // completes when both actors have ended
  // the thread that runs the batch handler, written by that thread; null if no thread runs the
  // handler
  private volatile Thread writerThread;

  /**
   * Adds an interceptor to each actor. The writer's interceptor handles the batches, and the
   * gatherer's interceptor handles the messages of timers. Both surround the user's interceptors.
   * For these messages they do not call {@code next}, so the user's interceptors do not see them.
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
    if (BlockBuilder.of(builder).mailbox().isPriority()) throw new IllegalArgumentException(
        "a batch sends itself messages at time limits, which a priority mailbox cannot order; give it another mailbox");
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
      // the batch handler waits for the gatherer; it continues when the gatherer has ended
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
   * Returns the actor to wait for first. In the batch handler this is the writer, so that the call
   * is refused as a cycle: the gatherer cannot end before the batch handler returns.
   */
  private Actor<?> actorToAwait() {
    return writerThread == Thread.currentThread() ? writer : gatherer;
  }

  /** Returns a copy, so that a caller that completes it does not complete {@code bothEnded}. */
  @Override
  public CompletableFuture<ExitReason> onExit() {
    return bothEnded.copy();
  }

  /**
   * Gives the resources to the writer, because the writer ends last, unless both actors are killed.
   */
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
