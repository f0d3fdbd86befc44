package io.fibry.flow;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.Handler;

/**
 * Stages that work on different messages at the same time. Immutable and thread-safe; can be opened
 * many times.
 * {@snippet class="io.fibry.PipelineSnippetsTest" region="pipeline"}
 *
 * <p>Each stage is an actor or pool named after its number ("orders/2"). It waits for room in the
 * next one, so a slow stage holds back those before it, and finally the senders. A message whose
 * stage throws is a dead letter; the builder's policy decides, and a stage that it stops ends the
 * pipeline. Code {@code around} sees each stage's messages: let it take any object.
 *
 * @param <I> taken by the first stage
 * @param <O> answered by the last stage
 */
public interface Pipeline<I, O> {

  /**
   * A pipeline of one stage.
   *
   * @param <I> taken by it
   * @param <O> answered by it
   * @param builder makes the stages; its mailbox is for the first, or {@code bounded(64, BLOCK)}
   * @param stage never returns null
   * @return a pipeline
   */
  static <I, O> Pipeline<I, O> of(ActorBuilder<? super I> builder, Handler.Returning<I, O> stage) {
    return ActorPipeline.from(builder, stage);
  }

  /**
   * Adds a stage.
   *
   * @param <P> answered by it
   * @param stage never returns null
   * @return a copy
   */
  <P> Pipeline<I, P> then(Handler.Returning<O, P> stage);

  /**
   * Adds a stage that passes messages on in their order, leaving out the messages that failed.
   *
   * @param <P> answered by it
   * @param parallel messages at once; at least 1
   * @param stage called by several threads; never returns null
   * @return a copy
   */
  <P> Pipeline<I, P> then(int parallel, Handler.Returning<O, P> stage);

  /**
   * Adds a stage that passes messages on as they are ready.
   *
   * @param <P> answered by it
   * @param parallel messages at once; at least 1
   * @param stage called by several threads; never returns null
   * @return a copy
   */
  <P> Pipeline<I, P> thenUnordered(int parallel, Handler.Returning<O, P> stage);

  /**
   * Sets the room before stages added from now on, and before the code given to {@link #into}.
   *
   * @param messages 64 unless set; at least 1
   * @return a copy
   */
  Pipeline<I, O> withCapacity(int messages);

  /**
   * Opens the pipeline: messages to the actor go through all stages, and its end ends them.
   *
   * <p>A poison pill, or {@code close}, drains one after the other; {@code waitForExit} waits for
   * the last. {@code askExit} drains all but the first. {@code kill} interrupts the first, and
   * those not drained within the grace.
   *
   * @param last handles the results one by one
   * @return the first stage
   */
  Actor<I> into(Handler<O> last);
}
