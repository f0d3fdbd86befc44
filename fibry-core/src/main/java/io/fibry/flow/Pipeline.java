package io.fibry.flow;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.Handler;

/**
 * Stages that work at the same time on different messages, each slowing the one before it down.
 * Immutable and thread-safe until {@link #into} opens it; one pipeline can be opened many times.
 * {@snippet class="io.fibry.PipelineSnippetsTest" region="pipeline"}
 *
 * <p>Each stage is an actor, or a pool, made as the builder says and named after its number
 * ("orders/2"). A stage that finds no room in the next one waits: so a slow stage holds back all
 * before it, and at last those who send. What a stage throws is its actor's failure: the message is
 * a dead letter, with the stage's name and the cause, and the builder's policy decides; the others
 * go on. Once a stage was stopped by its policy, the whole pipeline ends. Code given to
 * {@code around} is around each stage's own messages: let it take any object.
 *
 * @param <I> what goes in
 * @param <O> what the last stage so far answers
 */
public interface Pipeline<I, O> {

  /**
   * A pipeline of one stage.
   *
   * @param <I> what goes in
   * @param <O> what comes out
   * @param how how each stage is made; its mailbox is the one before the first, bounded, 64, BLOCK,
   * unless told
   * @param stage never answers null
   * @return a pipeline
   */
  static <I, O> Pipeline<I, O> from(ActorBuilder<? super I> how, Handler.Returning<I, O> stage) {
    return ActorPipeline.from(how, stage);
  }

  /**
   * One more stage.
   *
   * @param <P> what it answers
   * @param stage never answers null
   * @return a changed copy
   */
  <P> Pipeline<I, P> then(Handler.Returning<O, P> stage);

  /**
   * One more stage, which handles so many messages at once and passes them on in the order they
   * came. One that fails is left out.
   *
   * @param <P> what it answers
   * @param parallel at least 1
   * @param stage never answers null; called by several threads at once
   * @return a changed copy
   */
  <P> Pipeline<I, P> then(int parallel, Handler.Returning<O, P> stage);

  /**
   * One more stage, which handles so many messages at once and passes on whichever is ready first.
   *
   * @param <P> what it answers
   * @param parallel at least 1
   * @param stage never answers null; called by several threads at once
   * @return a changed copy
   */
  <P> Pipeline<I, P> thenUnordered(int parallel, Handler.Returning<O, P> stage);

  /**
   * The same, with room for so many messages before each stage added from now on, the last code
   * too; 64 unless told.
   *
   * @param messages at least 1
   * @return a changed copy
   */
  Pipeline<I, O> withRoom(int messages);

  /**
   * Opens it: messages to the actor that is answered go through all stages, and then to this code.
   *
   * <p>Ending the actor ends all: a poison pill, or {@code close}, drains one stage after the
   * other, and {@code waitForExit} waits for the last; {@code askExit} leaves what waits before the
   * first stage, and drains the rest; {@code kill} interrupts the first, and those that have not
   * drained within the grace.
   *
   * @param last what is done with each result, one at a time
   * @return the way in
   */
  Actor<I> into(Handler<O> last);
}
