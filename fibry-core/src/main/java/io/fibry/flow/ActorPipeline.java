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
import io.fibry.spi.PoolSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

/**
 * A pipeline of actors. The last stage is made first, because a closing scope ends the newest actor
 * first, and the first stage must end before the later stages.
 */
@SuppressWarnings("unchecked") // Pipeline checks the types of the stages
record ActorPipeline<I, O>(ActorBuilder<Object> builder, List<ActorPipeline.PipelineStage> stages, int capacity)
    implements Pipeline<I, O> {
  private static final int DEFAULT_CAPACITY = 64;

  record PipelineStage(int maxParallel, boolean isOrdered, Handler.Returning<Object, Object> code, int capacity) {}

  static <I, O> Pipeline<I, O> of(ActorBuilder<? super I> builder, Handler.Returning<I, O> stage) {
    Objects.requireNonNull(builder, "builder");
    return new ActorPipeline<I, I>((ActorBuilder<Object>) builder, List.of(), DEFAULT_CAPACITY).then(stage);
  }

  @Override
  public <P> Pipeline<I, P> then(Handler.Returning<O, P> stage) {
    return append(1, true, stage);
  }

  @Override
  public <P> Pipeline<I, P> then(int maxParallel, Handler.Returning<O, P> stage) {
    return append(maxParallel, true, stage);
  }

  @Override
  public <P> Pipeline<I, P> thenUnordered(int maxParallel, Handler.Returning<O, P> stage) {
    return append(maxParallel, false, stage);
  }

  private <P> Pipeline<I, P> append(int maxParallel, boolean ordered, Handler.Returning<O, P> stage) {
    Arguments.requireAtLeastOne(maxParallel, "a stage that handles " + maxParallel + " messages at once handles none");
    var newStage = new PipelineStage(maxParallel, ordered,
        (Handler.Returning<Object, Object>) (Handler.Returning<?, ?>) Objects.requireNonNull(stage, "stage"), capacity);
    return new ActorPipeline<>(builder, ChangedCopy.append(stages, newStage), capacity);
  }

  @Override
  public Pipeline<I, O> withCapacity(int capacity) {
    Arguments.requireAtLeastOne(capacity,
        "with capacity for " + capacity + " messages no message could pass from stage to stage");
    return new ActorPipeline<>(builder, stages, capacity);
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
    var firstStage = actors.removeLast();
    firstStage.closeOnExit(() -> {
      actors.getLast().sendPoisonPill();
      // the first stage waits for all later stages; if each stage waited for the next stage, each
      // would hold a thread
      actors.forEach(Actor::waitForExit);
    });
    // if a later stage ends before the first, for example by its failure policy, the first stage
    // ends, too
    actors.forEach(laterStage -> laterStage.onExit().thenRun(firstStage::askExit));
    firstStage.onExit().thenAccept(reason -> {
      if (reason instanceof ExitReason.Killed) actors.forEach(Actor::kill);
    });
    return (Actor<I>) (Actor<?>) firstStage;
  }

  private ActorBuilder<Object> builder(int number, int capacity) {
    var mailbox = Mailbox.bounded(capacity, Overflow.BLOCK);
    var child = BlockBuilder.of(builder).child("" + number);
    return number == 1 ? child.defaultMailbox(mailbox) : child.mailbox(mailbox);
  }

  private void open(int number, PipelineStage stage, List<Actor<Object>> actors) {
    var nextStage = actors.getLast();
    var builder = builder(number, stage.capacity);
    if (stage.isOrdered && stage.maxParallel > 1) {
      openOrdered(number, stage, builder, actors);
      return;
    }
    if (stage.maxParallel > 1)
      builder = BlockBuilder.of(builder).pooled(PoolSpec.scaling(stage.maxParallel, stage.maxParallel));
    actors.add(passingPillTo(nextStage,
        builder.newActor(message -> pass(message, stage.code.handle(message), number, nextStage))));
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
   * Makes a pool and two actors. The input actor sends each message to the pool, and the output
   * actor waits for the results in the order of the messages. Both actors get the message itself,
   * so that dead letters contain it. The output actor throws the failures of the pool, so a retried
   * message keeps its position.
   */
  private void openOrdered(int number, PipelineStage stage, ActorBuilder<Object> builder, List<Actor<Object>> actors) {
    var nextStage = actors.getLast();
    var pending = new ConcurrentLinkedQueue<PendingResult>();
    var pool = BlockBuilder
        .of(BlockBuilder.of(builder).child("work").mailbox(Mailbox.bounded(stage.maxParallel + 2, Overflow.BLOCK))
            .onFailure(FailurePolicy.resume().withoutLog()))
        .pooled(PoolSpec.scaling(stage.maxParallel, stage.maxParallel))
        .newActorWithReturn(stage.code);
    actors.add(pool);
    var output =
        BlockBuilder.of(builder).child("out").excludedFromAccounts()
            .mailbox(Mailbox.bounded(stage.maxParallel, Overflow.BLOCK))
            .newActor((Object message) -> pass(message, awaitResult(resultOf(pending, message, pool)), number,
                nextStage));
    actors.add(passingPillTo(nextStage, output.closeOnExit(pool::sendPoisonPill)));
    actors.add(passingPillTo(output,
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
   * Returns the future of the message's result. If a message is retried, its first attempt has
   * removed the future from {@code pending}, so the message is sent to the pool again.
   */
  private static Future<Object> resultOf(Queue<PendingResult> pending, Object message,
      ActorWithReturn<Object, Object> pool) {
    var oldestResult = pending.peek();
    return oldestResult != null && oldestResult.message == message ? pending.poll().future
        : pool.sendMessageReturn(message);
  }

  private static Object awaitResult(Future<Object> future) throws Exception {
    try {
      return future.get();
    } catch (ExecutionException failure) {
      throw Throwables.<Exception>sneakyThrow(failure.getCause());
    }
  }

  /** Sends the result to the next stage. If that stage has ended, the result is a dead letter. */
  private static void pass(Object message, Object result, int number, Actor<Object> nextStage) {
    if (result == null) throw new NullPointerException("stage " + number + " of the pipeline answered null to "
        + message.getClass().getName() + "; let it answer an Optional");
    nextStage.sendMessage(result);
  }

  /** Makes the stage send a poison pill to the next stage when it ends. Returns the stage. */
  private static Actor<Object> passingPillTo(Actor<Object> nextStage, Actor<Object> stage) {
    return stage.closeOnExit(nextStage::sendPoisonPill);
  }
}
