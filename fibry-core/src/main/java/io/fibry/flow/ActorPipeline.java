package io.fibry.flow;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorWithReturn;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.mailbox.Sharing;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

/**
 * The stages of a pipeline. Opened from the last to the first, so that a scope that closes begins
 * with the first.
 */
// the types of the stages are held by Pipeline; behind it a message is an Object
@SuppressWarnings("unchecked")
final class ActorPipeline<I, O> implements Pipeline<I, O> {
  private static final int ROOM = 64;

  /**
   * One stage: how many at once, whether in order, what it does, and how many may wait before it.
   */
  private record Stage(int parallel, boolean ordered, Handler.Returning<Object, Object> code, int room) {}

  private final ActorBuilder<Object> how;
  private final List<Stage> stages;
  private final int room;

  private ActorPipeline(ActorBuilder<Object> how, List<Stage> stages, int room) {
    this.how = how;
    this.stages = stages;
    this.room = room;
  }

  static <I, O> Pipeline<I, O> from(ActorBuilder<? super I> how, Handler.Returning<I, O> stage) {
    return new ActorPipeline<I, I>((ActorBuilder<Object>) Objects.requireNonNull(how, "how"), List.of(), ROOM)
        .then(stage);
  }

  @Override
  public <P> Pipeline<I, P> then(Handler.Returning<O, P> stage) {
    return and(1, true, stage);
  }

  @Override
  public <P> Pipeline<I, P> then(int parallel, Handler.Returning<O, P> stage) {
    return and(parallel, true, stage);
  }

  @Override
  public <P> Pipeline<I, P> thenUnordered(int parallel, Handler.Returning<O, P> stage) {
    return and(parallel, false, stage);
  }

  private <P> Pipeline<I, P> and(int parallel, boolean ordered, Handler.Returning<O, P> stage) {
    if (parallel < 1) throw new IllegalArgumentException(
        "a stage that handles " + parallel + " messages at once handles none; give at least 1");
    var more = new ArrayList<>(stages);
    more.add(new Stage(parallel, ordered,
        (Handler.Returning<Object, Object>) (Handler.Returning<?, ?>) Objects.requireNonNull(stage, "stage"), room));
    return new ActorPipeline<>(how, List.copyOf(more), room);
  }

  @Override
  public Pipeline<I, O> withRoom(int messages) {
    if (messages < 1) throw new IllegalArgumentException(
        "with room for " + messages + " messages none could go from stage to stage; give at least 1");
    return new ActorPipeline<>(how, stages, messages);
  }

  // ---- opening

  @Override
  public Actor<I> into(Handler<O> last) {
    Objects.requireNonNull(last, "last");
    var opened = new ArrayList<Actor<Object>>();
    opened.add(made(stages.size() + 1, room).newActor((Handler<Object>) (Handler<?>) last));
    try {
      for (int number = stages.size(); number > 0; number--) open(number, stages.get(number - 1), opened);
    } catch (Throwable taken) { // a name, or the scope is closed
      opened.forEach(Actor::kill);
      throw taken;
    }
    var first = opened.removeLast();
    first.closeOnExit(() -> {
      opened.getLast().sendPoisonPill();
      // here alone: where each waited for the next, an executor would need a thread for each
      opened.forEach(Actor::waitForExit);
    });
    // one that was stopped by its policy ends all
    opened.forEach(later -> later.onExit().thenRun(first::askExit));
    first.onExit().thenAccept(reason -> {
      if (reason instanceof ExitReason.Killed) opened.forEach(Actor::kill);
    });
    return (Actor<I>) (Actor<?>) first;
  }

  private ActorBuilder<Object> made(int number, int room) {
    var builder = how.part("" + number);
    return number == 1 ? builder.orMailbox(Mailbox.bounded(room, Overflow.BLOCK))
        : builder.mailbox(Mailbox.bounded(room, Overflow.BLOCK));
  }

  private void open(int number, Stage stage, List<Actor<Object>> opened) {
    var next = opened.getLast();
    var builder = made(number, stage.room);
    if (stage.parallel == 1)
      opened.add(before(next, builder.newActor(message -> pass(message, stage.code.handle(message), number, next))));
    else if (!stage.ordered) opened.add(before(next, builder.shared(Sharing.scaling(stage.parallel, stage.parallel))
        .newActor(message -> pass(message, stage.code.handle(message), number, next))));
    else openOrdered(number, stage, builder, opened);
  }

  /** What was begun, and will be ready some time. */
  private static final class Begun {
    private final Object message;
    private final Future<Object> result;

    Begun(Object message, Future<Object> result) {
      this.message = message;
      this.result = result;
    }
  }

  /**
   * Three actors: the first has each message begun by a pool, the last waits for the results in
   * that order. Both are sent the message itself, so that a dead letter holds it. The last fails
   * for the pool: it is the one that the policy is asked about, so a message that is tried again
   * keeps its turn.
   */
  private void openOrdered(int number, Stage stage, ActorBuilder<Object> builder, List<Actor<Object>> opened) {
    var next = opened.getLast();
    var begun = new ConcurrentLinkedQueue<Begun>();
    var pool = builder.part("work").mailbox(Mailbox.bounded(stage.parallel + 2, Overflow.BLOCK))
        .onFailure(FailurePolicy.goOn().withoutLog()).shared(Sharing.scaling(stage.parallel, stage.parallel))
        .newActorWithReturn(stage.code);
    opened.add(pool);
    var out = builder.part("out").mailbox(Mailbox.bounded(stage.parallel, Overflow.BLOCK))
        .newActor((Object message) -> pass(message, result(own(begun, message, pool)), number, next));
    opened.add(before(next, out.closeOnExit(pool::sendPoisonPill)));
    opened.add(before(out, builder.newActor((Object message) -> begin(message, begun, pool, out))));
  }

  private static void begin(Object message, Queue<Begun> begun, ActorWithReturn<Object, Object> pool,
      Actor<Object> out) {
    var own = new Begun(message, pool.sendMessageReturn(message));
    begun.add(own);
    boolean sent = false;
    try {
      sent = out.sendMessage(message);
    } finally {
      if (!sent) begun.remove(own);
    }
  }

  /** The one that was begun for this message; one that is tried again is begun again. */
  private static Future<Object> own(Queue<Begun> begun, Object message, ActorWithReturn<Object, Object> pool) {
    var first = begun.peek();
    return first != null && first.message == message ? begun.poll().result : pool.sendMessageReturn(message);
  }

  private static Object result(Future<Object> future) throws Exception {
    try {
      return future.get();
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof Error error) throw error;
      throw (Exception) failed.getCause();
    }
  }

  /** Waits for room. Where the next one has ended, the result is a dead letter there. */
  private static void pass(Object message, Object result, int number, Actor<Object> next) {
    if (result == null) throw new NullPointerException("stage " + number + " of the pipeline answered null to "
        + message.getClass().getName() + "; let it answer an Optional");
    next.sendMessage(result);
  }

  private static Actor<Object> before(Actor<Object> next, Actor<Object> stage) {
    return stage.closeOnExit(next::sendPoisonPill);
  }
}
