package io.fibry.flow;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorWithReturn;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.block.Arguments;
import io.fibry.block.ChangedCopy;
import io.fibry.block.Throwables;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.spi.BlockBuilder;
import io.fibry.spi.PoolPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

/** A pipeline of actors, made from the last to the first: a scope closes the last made first. */
@SuppressWarnings("unchecked") // Pipeline checks the types of the stages
record ActorPipeline<I, O>(ActorBuilder<Object> builder, List<ActorPipeline.PipelineStage> stages, int capacity)
    implements Pipeline<I, O> {
  private static final int DEFAULT_CAPACITY = 64;

  record PipelineStage(int parallel, boolean ordered, Handler.Returning<Object, Object> code, int capacity) {}

  static <I, O> Pipeline<I, O> from(ActorBuilder<? super I> builder, Handler.Returning<I, O> stage) {
    Objects.requireNonNull(builder, "builder");
    return new ActorPipeline<I, I>((ActorBuilder<Object>) builder, List.of(), DEFAULT_CAPACITY).then(stage);
  }

  @Override
  public <P> Pipeline<I, P> then(Handler.Returning<O, P> stage) {
    return append(1, true, stage);
  }

  @Override
  public <P> Pipeline<I, P> then(int parallel, Handler.Returning<O, P> stage) {
    return append(parallel, true, stage);
  }

  @Override
  public <P> Pipeline<I, P> thenUnordered(int parallel, Handler.Returning<O, P> stage) {
    return append(parallel, false, stage);
  }

  private <P> Pipeline<I, P> append(int parallel, boolean ordered, Handler.Returning<O, P> stage) {
    Arguments.requireAtLeastOne(parallel, "a stage that handles " + parallel + " messages at once handles none");
    var added = new PipelineStage(parallel, ordered,
        (Handler.Returning<Object, Object>) (Handler.Returning<?, ?>) Objects.requireNonNull(stage, "stage"), capacity);
    return new ActorPipeline<>(builder, ChangedCopy.append(stages, added), capacity);
  }

  @Override
  public Pipeline<I, O> withCapacity(int messages) {
    Arguments.requireAtLeastOne(messages, "with room for " + messages + " messages none could go from stage to stage");
    return new ActorPipeline<>(builder, stages, messages);
  }

  @Override
  public Actor<I> into(Handler<O> last) {
    Objects.requireNonNull(last, "last");
    var opened = new ArrayList<Actor<Object>>();
    opened.add(builder(stages.size() + 1, capacity).newActor((Handler<Object>) (Handler<?>) last));
    try {
      for (int number = stages.size(); number > 0; number--) open(number, stages.get(number - 1), opened);
    } catch (Throwable refused) {
      opened.forEach(Actor::kill);
      throw refused;
    }
    var first = opened.removeLast();
    first.closeOnExit(() -> {
      opened.getLast().sendPoisonPill();
      // if each stage waited, an executor would need a thread for each
      opened.forEach(Actor::waitForExit);
    });
    // stopped by its policy
    opened.forEach(later -> later.onExit().thenRun(first::askExit));
    first.onExit().thenAccept(reason -> {
      if (reason instanceof ExitReason.Killed) opened.forEach(Actor::kill);
    });
    return (Actor<I>) (Actor<?>) first;
  }

  private ActorBuilder<Object> builder(int number, int room) {
    var mailbox = Mailbox.bounded(room, Overflow.BLOCK);
    var part = BlockBuilder.of(builder).child("" + number);
    return number == 1 ? part.defaultMailbox(mailbox) : part.mailbox(mailbox);
  }

  private void open(int number, PipelineStage stage, List<Actor<Object>> opened) {
    var next = opened.getLast();
    var builder = builder(number, stage.capacity);
    if (stage.ordered && stage.parallel > 1) {
      openOrdered(number, stage, builder, opened);
      return;
    }
    if (stage.parallel > 1)
      builder = BlockBuilder.of(builder).pooled(PoolPolicy.scaling(stage.parallel, stage.parallel));
    opened.add(endBefore(next, builder.newActor(message -> pass(message, stage.code.handle(message), number, next))));
  }

  /** What a pool makes of a message. No record: that would call the user's {@code equals}. */
  private static final class PendingResult {
    private final Object message;
    private final Future<Object> future;

    PendingResult(Object message, Future<Object> future) {
      this.message = message;
      this.future = future;
    }
  }

  /**
   * Makes three actors: the first starts each message on a pool, the last waits for the results in
   * that order. Both get the message itself, for dead letters. The last fails in place of the pool,
   * so a retried message keeps its place.
   */
  private void openOrdered(int number, PipelineStage stage, ActorBuilder<Object> builder, List<Actor<Object>> opened) {
    var next = opened.getLast();
    var pending = new ConcurrentLinkedQueue<PendingResult>();
    var pool = BlockBuilder
        .of(BlockBuilder.of(builder).child("work").mailbox(Mailbox.bounded(stage.parallel + 2, Overflow.BLOCK))
            .onFailure(FailurePolicy.resume().withoutLog()))
        .pooled(PoolPolicy.scaling(stage.parallel, stage.parallel))
        .newActorWithReturn(stage.code);
    opened.add(pool);
    var out =
        BlockBuilder.of(builder).child("out").excludedFromAccounts()
            .mailbox(Mailbox.bounded(stage.parallel, Overflow.BLOCK))
            .newActor((Object message) -> pass(message, result(future(pending, message, pool)), number, next));
    opened.add(endBefore(next, out.closeOnExit(pool::sendPoisonPill)));
    opened.add(endBefore(out,
        BlockBuilder.of(builder).excludedFromAccounts()
            .newActor((Object message) -> start(message, pending, pool, out))));
  }

  private static void start(Object message, Queue<PendingResult> pending, ActorWithReturn<Object, Object> pool,
      Actor<Object> out) {
    var result = new PendingResult(message, pool.sendMessageReturn(message));
    pending.add(result);
    boolean sent = false;
    try {
      sent = out.sendMessage(message);
    } finally {
      if (!sent) pending.remove(result);
    }
  }

  /** Starts a message again if it is retried. */
  private static Future<Object> future(Queue<PendingResult> pending, Object message,
      ActorWithReturn<Object, Object> pool) {
    var first = pending.peek();
    return first != null && first.message == message ? pending.poll().future : pool.sendMessageReturn(message);
  }

  private static Object result(Future<Object> future) throws Exception {
    try {
      return future.get();
    } catch (ExecutionException failed) {
      throw Throwables.<Exception>sneakyThrow(failed.getCause());
    }
  }

  /** If the next stage has ended, the result is a dead letter there. */
  private static void pass(Object message, Object result, int number, Actor<Object> next) {
    if (result == null) throw new NullPointerException("stage " + number + " of the pipeline answered null to "
        + message.getClass().getName() + "; let it answer an Optional");
    next.sendMessage(result);
  }

  private static Actor<Object> endBefore(Actor<Object> next, Actor<Object> stage) {
    return stage.closeOnExit(next::sendPoisonPill);
  }
}
