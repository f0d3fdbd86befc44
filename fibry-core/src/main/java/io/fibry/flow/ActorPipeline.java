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

/** A pipeline of actors. The last stage is made first: a scope closes the newest actor first. */
@SuppressWarnings("unchecked") // Pipeline checks the types of the stages
record ActorPipeline<I, O>(ActorBuilder<Object> builder, List<ActorPipeline.PipelineStage> stages, int capacity)
    implements Pipeline<I, O> {
  private static final int DEFAULT_CAPACITY = 64;

  record PipelineStage(int parallel, boolean ordered, Handler.Returning<Object, Object> code, int capacity) {}

  static <I, O> Pipeline<I, O> of(ActorBuilder<? super I> builder, Handler.Returning<I, O> stage) {
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
    var newStage = new PipelineStage(parallel, ordered,
        (Handler.Returning<Object, Object>) (Handler.Returning<?, ?>) Objects.requireNonNull(stage, "stage"), capacity);
    return new ActorPipeline<>(builder, ChangedCopy.append(stages, newStage), capacity);
  }

  @Override
  public Pipeline<I, O> withCapacity(int messages) {
    Arguments.requireAtLeastOne(messages, "with room for " + messages + " messages none could go from stage to stage");
    return new ActorPipeline<>(builder, stages, messages);
  }

  @Override
  public Actor<I> into(Handler<O> lastHandler) {
    Objects.requireNonNull(lastHandler, "lastHandler");
    var actors = new ArrayList<Actor<Object>>();
    actors.add(builder(stages.size() + 1, capacity).newActor((Handler<Object>) (Handler<?>) lastHandler));
    try {
      for (int number = stages.size(); number > 0; number--) open(number, stages.get(number - 1), actors);
    } catch (Throwable failure) {
      actors.forEach(Actor::kill);
      throw failure;
    }
    var first = actors.removeLast();
    first.closeOnExit(() -> {
      actors.getLast().sendPoisonPill();
      // waits for all, because on an executor each waiting stage would hold a thread
      actors.forEach(Actor::waitForExit);
    });
    // if a later stage ends first, for example by its failure policy, the first stage ends, too
    actors.forEach(laterStage -> laterStage.onExit().thenRun(first::askExit));
    first.onExit().thenAccept(reason -> {
      if (reason instanceof ExitReason.Killed) actors.forEach(Actor::kill);
    });
    return (Actor<I>) (Actor<?>) first;
  }

  private ActorBuilder<Object> builder(int number, int capacity) {
    var mailbox = Mailbox.bounded(capacity, Overflow.BLOCK);
    var child = BlockBuilder.of(builder).child("" + number);
    return number == 1 ? child.defaultMailbox(mailbox) : child.mailbox(mailbox);
  }

  private void open(int number, PipelineStage stage, List<Actor<Object>> actors) {
    var next = actors.getLast();
    var builder = builder(number, stage.capacity);
    if (stage.ordered && stage.parallel > 1) {
      openOrdered(number, stage, builder, actors);
      return;
    }
    if (stage.parallel > 1)
      builder = BlockBuilder.of(builder).pooled(PoolPolicy.scaling(stage.parallel, stage.parallel));
    actors.add(endBefore(next, builder.newActor(message -> pass(message, stage.code.handle(message), number, next))));
  }

  /**
   * A message, and the future of its result. This is not a record, because a record's
   * {@code equals} would call the {@code equals} of the user's message.
   */
  private static final class PendingResult {
    private final Object message;
    private final Future<Object> future;

    PendingResult(Object message, Future<Object> future) {
      this.message = message;
      this.future = future;
    }
  }

  /**
   * Makes three actors: the first sends each message to a pool, and the last waits for the results
   * in the order of the messages. Both get the message itself, for dead letters. The last throws
   * the failures of the pool, so a retried message keeps its position.
   */
  private void openOrdered(int number, PipelineStage stage, ActorBuilder<Object> builder, List<Actor<Object>> actors) {
    var next = actors.getLast();
    var pending = new ConcurrentLinkedQueue<PendingResult>();
    var pool = BlockBuilder
        .of(BlockBuilder.of(builder).child("work").mailbox(Mailbox.bounded(stage.parallel + 2, Overflow.BLOCK))
            .onFailure(FailurePolicy.resume().withoutLog()))
        .pooled(PoolPolicy.scaling(stage.parallel, stage.parallel))
        .newActorWithReturn(stage.code);
    actors.add(pool);
    var output =
        BlockBuilder.of(builder).child("out").excludedFromAccounts()
            .mailbox(Mailbox.bounded(stage.parallel, Overflow.BLOCK))
            .newActor((Object message) -> pass(message, awaitResult(resultOf(pending, message, pool)), number, next));
    actors.add(endBefore(next, output.closeOnExit(pool::sendPoisonPill)));
    actors.add(endBefore(output,
        BlockBuilder.of(builder).excludedFromAccounts()
            .newActor((Object message) -> start(message, pending, pool, output))));
  }

  private static void start(Object message, Queue<PendingResult> pending, ActorWithReturn<Object, Object> pool,
      Actor<Object> output) {
    var pendingResult = new PendingResult(message, pool.sendMessageReturn(message));
    pending.add(pendingResult);
    boolean isSent = false;
    try {
      isSent = output.sendMessage(message);
    } finally {
      if (!isSent) pending.remove(pendingResult);
    }
  }

  /**
   * Returns the future of the message's result. A retried message has none in {@code pending}, and
   * is sent to the pool again.
   */
  private static Future<Object> resultOf(Queue<PendingResult> pending, Object message,
      ActorWithReturn<Object, Object> pool) {
    var oldest = pending.peek();
    return oldest != null && oldest.message == message ? pending.poll().future : pool.sendMessageReturn(message);
  }

  private static Object awaitResult(Future<Object> future) throws Exception {
    try {
      return future.get();
    } catch (ExecutionException failure) {
      throw Throwables.<Exception>sneakyThrow(failure.getCause());
    }
  }

  /** Sends the result to the next stage; if that has ended, the result is its dead letter. */
  private static void pass(Object message, Object result, int number, Actor<Object> next) {
    if (result == null) throw new NullPointerException("stage " + number + " of the pipeline answered null to "
        + message.getClass().getName() + "; let it answer an Optional");
    next.sendMessage(result);
  }

  private static Actor<Object> endBefore(Actor<Object> next, Actor<Object> stage) {
    return stage.closeOnExit(next::sendPoisonPill);
  }
}
