package io.fibry.flow;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.Handler;

/**
 * Stages that work on different messages at the same time. Immutable and thread-safe; can be opened
 * many times.
 * {@snippet class="io.fibry.PipelineSnippetsTest" region="pipeline"}
 *
 * <p>Each stage is an actor or pool named after its number ("orders/2"). A stage waits while the
 * mailbox of the next stage is full, so a slow stage delays the stages before it, and finally the
 * senders. If a stage throws, its message becomes a dead letter. If the builder's failure policy
 * then stops the stage, the pipeline ends. The builder's interceptors see the messages of each
 * stage, so they must accept any object.
 *
 * @param <I> messages to the first stage
 * @param <O> results of the last stage
 */
public interface Pipeline<I, O> {

  /**
   * Makes a pipeline of one stage.
   *
   * @param <I> messages to the stage
   * @param <O> results of the stage
   * @param builder makes the stages; its mailbox is used for the first stage, by default
   * {@code bounded(64, BLOCK)}
   * @param stage never returns null
   * @return a pipeline
   */
  static <I, O> Pipeline<I, O> of(ActorBuilder<? super I> builder, Handler.Returning<I, O> stage) {
    return ActorPipeline.of(builder, stage);
  }

  /**
   * Adds a stage.
   *
   * @param <P> results of the new stage
   * @param stage never returns null
   * @return a copy
   */
  <P> Pipeline<I, P> then(Handler.Returning<O, P> stage);

  /**
   * Adds a stage that passes the results to the next stage in the order of the messages. A failed
   * message has no result.
   *
   * @param <P> results of the new stage
   * @param maxParallel maximum number of messages that are handled at the same time; at least 1
   * @param stage called by several threads; never returns null
   * @return a copy
   */
  <P> Pipeline<I, P> then(int maxParallel, Handler.Returning<O, P> stage);

  /**
   * Adds a stage that passes each result to the next stage as soon as the result is ready.
   *
   * @param <P> results of the new stage
   * @param maxParallel maximum number of messages that are handled at the same time; at least 1
   * @param stage called by several threads; never returns null
   * @return a copy
   */
  <P> Pipeline<I, P> thenUnordered(int maxParallel, Handler.Returning<O, P> stage);

  /**
   * Sets the mailbox capacity of the stages that are added from now on, and of the actor that
   * {@link #into} makes for its handler.
   *
   * @param capacity how many messages each mailbox holds; by default 64, at least 1
   * @return a copy
   */
  Pipeline<I, O> withCapacity(int capacity);

  /**
   * Opens the pipeline. Messages to the returned actor go through all stages, and the end of this
   * actor ends all stages.
   *
   * <p>A poison pill or {@code close} drains one stage after the other. {@code waitForExit} waits
   * for the last stage. {@code askExit} drains all stages except the first. {@code kill} interrupts
   * the first stage, and the stages that are not drained within the kill grace.
   *
   * @param lastHandler handles the results one by one
   * @return the actor of the first stage
   */
  Actor<I> into(Handler<O> lastHandler);
}
