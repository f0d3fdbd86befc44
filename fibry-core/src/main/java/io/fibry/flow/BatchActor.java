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
 * gatherer hands over its batch and waits for the writer's end; a writer that ends first asks the
 * gatherer to exit. The writer is made first, since a scope ends the last made first.
 */
final class BatchActor<M> extends ForwardingActor<M> {
  private static final int CAPACITY = 1024;

  private final Actor<Object> writer;
  private final Actor<M> gatherer;
  private final CompletableFuture<ExitReason> end; // of both
  private volatile Thread writing; // in the handler; written by that thread, read by all

  /** Puts its code outside the user's, which sees neither batches nor timers. */
  private <B> BatchActor(ActorBuilder<Object> builder, BatchKind<M, B> kind, int size, Duration wait,
      Handler<B> handler) {
    writer = BlockBuilder.of(builder).child("batch").excludedFromAccounts().mailbox(Mailbox.bounded(1, Overflow.BLOCK))
        .intercept((batch, next) -> write(handler, batch)).newActor(batch -> {});
    try {
      gatherer = gatherer(builder, new PendingBatch<>(kind, size, wait, BlockBuilder.of(builder).scheduler(), writer));
    } catch (Throwable refused) {
      writer.askExit();
      throw refused;
    }
    end = gatherer.onExit().thenCombine(writer.onExit(),
        (first, second) -> second instanceof ExitReason.Failed ? second : first);
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
    var bounded =
        (ActorBuilder<Object>) BlockBuilder.of(builder).defaultMailbox(Mailbox.bounded(CAPACITY, Overflow.BLOCK));
    return new BatchActor<>(bounded, kind, size, wait, handler);
  }

  @SuppressWarnings("unchecked")
  private static <M, B> Actor<M> gatherer(ActorBuilder<Object> builder, PendingBatch<M, B> batch) {
    ActorBuilder<Object> timed = builder.intercept((message, next) -> {
      if (message instanceof PendingBatch.BatchExpiry expiry) expiry.handle();
      else next.run();
    });
    Actor<Object> made =
        timed.initialState(() -> batch).onStop(PendingBatch::handOverLast).newActor((PendingBatch<M, B> state,
            Object message, ActorContext<Object> context) -> state.add((M) message, context.self()));
    return (Actor<M>) (Actor<?>) made;
  }

  @SuppressWarnings("unchecked")
  private <B> void write(Handler<B> handler, Object batch) throws Exception {
    writing = Thread.currentThread();
    try {
      handler.handle((B) batch);
    } finally {
      writing = null;
    }
  }

  private void endWriter() {
    writer.sendPoisonPill();
    try {
      writer.waitForExit();
    } catch (CancellationException impatient) {
      writer.kill();
    } catch (RequestException ring) {
      // the handler waits for the gatherer, and continues after it
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
    first().waitForExit();
    writer.waitForExit();
    end.join();
  }

  @Override
  public boolean waitForExit(Duration limit) {
    long began = System.nanoTime();
    if (!first().waitForExit(limit)) return false;
    var left = limit.minusNanos(System.nanoTime() - began);
    if (!writer.waitForExit(left.isNegative() ? Duration.ZERO : left)) return false;
    end.join();
    return true;
  }

  /** The writer reports a wait in its own handler as a ring. */
  private Actor<?> first() {
    return writing == Thread.currentThread() ? writer : gatherer;
  }

  /** Returns a copy for this caller, which the caller may complete. */
  @Override
  public CompletableFuture<ExitReason> onExit() {
    return end.copy();
  }

  /** The writer ends last, unless both are cut off. */
  @Override
  public BatchActor<M> closeOnExit(AutoCloseable... resources) {
    writer.closeOnExit(resources);
    return this;
  }

  @Override
  public void close() {
    if (first() == writer) sendPoisonPill();
    else gatherer.close();
    if (gatherer.onExit().isDone()) waitForExit();
  }
}
