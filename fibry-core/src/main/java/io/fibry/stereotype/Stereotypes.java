package io.fibry.stereotype;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorSystem;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.Sink;
import io.fibry.Strategy;
import io.fibry.flow.Batch;
import io.fibry.flow.Generator;
import io.fibry.flow.Hooks;
import io.fibry.flow.MapReduce;
import io.fibry.flow.Pipeline;
import io.fibry.flow.RateLimit;
import io.fibry.pool.Pools;
import io.fibry.pubsub.SharedMap;
import io.fibry.pubsub.SharedValue;
import io.fibry.pubsub.Topic;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Ready-made actors, one line each. Immutable and thread-safe.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="stereotypes"}
 */
@SuppressWarnings("exports") // the nullness annotations are for the compiler alone
public final class Stereotypes extends NetworkStereotypes {
  private Stereotypes(ActorBuilder<?> how) {
    super(how);
  }

  /**
   * With the default strategy.
   *
   * @return recipes
   */
  public static Stereotypes def() {
    return new Stereotypes(ActorSystem.anonymous());
  }

  /**
   * A platform thread each.
   *
   * @return recipes
   */
  public static Stereotypes threads() {
    return Threads.RECIPES;
  }

  /**
   * A virtual thread each, while there is work.
   *
   * @return recipes
   */
  public static Stereotypes fibers() {
    return Fibers.RECIPES;
  }

  /**
   * Made as this builder says: scope, name, strategy, mailbox, failure policy.
   *
   * @param how the builder
   * @return recipes
   */
  public static Stereotypes of(ActorBuilder<?> how) {
    return new Stereotypes(Objects.requireNonNull(how, "how"));
  }

  /**
   * The object as an actor.
   *
   * @param <S> the object
   * @param state the object; with null, an actor around nothing, which hands null to the code it
   * runs
   * @return the actor, at work
   */
  @SuppressWarnings("unchecked") // null is of any type
  public <S> Sink<S> sink(@Nullable S state) {
    return state == null ? (Sink<S>) how.newSink() : how.<S>initialState(() -> state).newSink();
  }

  /**
   * Runs it in a new actor, which then ends; failing ends it too, with {@code ExitReason.Failed}.
   *
   * @param task what to run
   * @return the actor
   */
  public Exitable runOnce(Handler.Task task) {
    return runOnce(FailurePolicy.stop(), Objects.requireNonNull(task, "task"));
  }

  /**
   * The same, handing it its own actor.
   *
   * @param task what to run
   * @return the actor
   */
  public Exitable runOnce(Handler<Exitable> task) {
    return runOnce(FailurePolicy.stop(), task);
  }

  /**
   * Runs it in a new actor, which then ends; its failure is counted and not logged.
   *
   * @param task what to run
   * @return the actor
   */
  public Exitable runOnceSilent(Handler.Task task) {
    return runOnce(FailurePolicy.stop().withoutLog(), Objects.requireNonNull(task, "task"));
  }

  /**
   * Runs it in an actor of its own, again and again, at the beginning of each period. A run that
   * lasts longer makes the next one late, and is not made up for by a burst; one that fails is for
   * the failure policy, and the next comes all the same. Ending the actor ends it.
   *
   * @param initial how long from now the first time; zero or more
   * @param period from one beginning to the next; more than zero
   * @param task what to run
   * @return the actor
   */
  public Exitable scheduleAtFixedRate(Duration initial, Duration period, Handler.Task task) {
    Objects.requireNonNull(task, "task");
    return scheduleAtFixedRate(initial, period, (Exitable self) -> task.run());
  }

  /**
   * The same, handing it its own actor: so it ends itself, after the first time, the n-th, or when
   * it is done.
   * {@snippet class="io.fibry.RecipeSnippetsTest" region="schedule"}
   *
   * @param initial how long from now the first time; zero or more
   * @param period from one beginning to the next; more than zero
   * @param task what to run
   * @return the actor
   */
  public Exitable scheduleAtFixedRate(Duration initial, Duration period, Handler<Exitable> task) {
    return Schedule.atFixedRate(how, initial, period, task);
  }

  /**
   * Runs it in an actor of its own, again and again, each time so long after the run before it
   * ended. One that fails is for the failure policy, and the next comes all the same. Ending the
   * actor ends it.
   *
   * @param initial how long from now the first time; zero or more
   * @param delay from one end to the next beginning; more than zero
   * @param task what to run
   * @return the actor
   */
  public Exitable scheduleWithFixedDelay(Duration initial, Duration delay, Handler.Task task) {
    Objects.requireNonNull(task, "task");
    return scheduleWithFixedDelay(initial, delay, (Exitable self) -> task.run());
  }

  /**
   * The same, handing it its own actor: so it ends itself, after the first time, the n-th, or when
   * it is done.
   *
   * @param initial how long from now the first time; zero or more
   * @param delay from one end to the next beginning; more than zero
   * @param task what to run
   * @return the actor
   */
  public Exitable scheduleWithFixedDelay(Duration initial, Duration delay, Handler<Exitable> task) {
    return Schedule.withFixedDelay(how, initial, delay, task);
  }

  /**
   * Tells an actor of each file that is created, changed or deleted in a directory, not below it;
   * each at least once. Where more changes at once than the system can tell, the directory itself
   * is told, then all that is in it. Unless told otherwise 1024 changes wait, then the system keeps
   * them. It ends when the directory is deleted.
   *
   * @param directory what to watch
   * @param changed is given the absolute path of what changed
   * @return the actor; ending it ends the watch
   * @throws IllegalArgumentException if it is no directory
   * @throws java.io.UncheckedIOException if the system has no watch left
   */
  public Exitable watchDirectory(Path directory, Handler<Path> changed) {
    return DirectoryWatch.start(how, directory, changed);
  }

  /**
   * Makes actors that handle at most so many messages in so long, all together; the others wait.
   *
   * @param messages in each period; at least 1
   * @param period more than zero
   * @return a builder
   * @see RateLimit
   */
  public ActorBuilder<Object> rateLimited(int messages, Duration period) {
    return RateLimit.of(any(), messages, period);
  }

  /**
   * Handles messages in lists: as soon as they are so many, or the first has waited so long; at the
   * end, what is left.
   *
   * @param <M> the messages
   * @param size at least 1
   * @param wait more than zero
   * @param handler handles a batch: never empty, unmodifiable
   * @return where to send the messages
   * @see Batch
   */
  public <M> Actor<M> batch(int size, Duration wait, Handler<List<M>> handler) {
    return Batch.lists(any(), size, wait, handler);
  }

  /**
   * A function that can be given code before it, after it and on its errors, each in line or in an
   * actor of its own.
   *
   * @param <M> what the function is given
   * @param <R> what it answers
   * @param body the function
   * @return the function, without hooks as yet
   */
  public <M, R> Hooks<M, R> hooks(Handler.Returning<M, R> body) {
    return Hooks.around(how, body);
  }

  private Exitable runOnce(FailurePolicy policy, Handler.Task task) {
    return runOnce(policy, (Exitable self) -> task.run());
  }

  private Exitable runOnce(FailurePolicy policy, Handler<Exitable> task) {
    Objects.requireNonNull(task, "task");
    var actor = how.onFailure(policy).newSink();
    actor.execAsync(nothing -> task.handle(actor));
    actor.sendPoisonPill();
    return actor;
  }

  /**
   * Each message in a worker of its own: none waits for another.
   *
   * @return a builder of such actors
   * @see Pools#perMessage
   */
  public ActorBuilder<Object> workers() {
    return Pools.perMessage(any());
  }

  /**
   * So many messages at once.
   *
   * @param workers at least 1
   * @return a builder of such actors
   * @see Pools#fixed
   */
  public ActorBuilder<Object> pool(int workers) {
    return Pools.fixed(any(), workers);
  }

  /**
   * More messages at once when they wait, fewer workers after a calm.
   *
   * @param least at least 0
   * @param most at least 1, and not less than the least
   * @return a builder of such actors
   * @see Pools#scaling
   */
  public ActorBuilder<Object> scalingPool(int least, int most) {
    return Pools.scaling(any(), least, most);
  }

  /**
   * As many messages at once as the permits allow.
   *
   * @param <M> the messages
   * @param permits at least 1
   * @param weight how many permits a message needs
   * @return a builder of such actors
   * @see Pools#weighted
   */
  public <M> ActorBuilder<M> weightedPool(int permits, ToIntFunction<M> weight) {
    return Pools.weighted(any(), permits, weight);
  }

  /**
   * Messages of one key in order, of different keys at once.
   *
   * @param <M> the messages
   * @param workers at least 1
   * @param key what must not be handled side by side
   * @return a builder of such actors
   * @see Pools#byKey
   */
  public <M> ActorBuilder<M> poolByKey(int workers, Function<M, ?> key) {
    return Pools.byKey(any(), workers, key);
  }

  /**
   * Hands each message to all who subscribed.
   *
   * @param <M> the messages
   * @return the topic
   * @see Topic#of
   */
  public <M> Topic<M> topic() {
    return Topic.of(any());
  }

  /**
   * A value that many read, change and follow.
   *
   * @param <T> the value
   * @param initial never null
   * @return the value
   * @see SharedValue#of
   */
  public <T> SharedValue<T> sharedValue(T initial) {
    return SharedValue.of(how, initial);
  }

  /**
   * Values by key that many read, change and follow.
   *
   * @param <K> the keys
   * @param <V> the values
   * @return the map, empty
   * @see SharedMap#of
   */
  public <K, V> SharedMap<K, V> sharedMap() {
    return SharedMap.of(how);
  }

  /**
   * A sequence made by actors while it is read.
   *
   * @param <T> the elements
   * @param ahead how many may be ready and not read yet; at least 1
   * @param producers at least one
   * @return the sequence
   * @see Generator#of
   */
  @SafeVarargs
  @SuppressWarnings("varargs") // handed on as they are
  public final <T> Generator<T> generator(int ahead, Handler<Generator.Output<T>>... producers) {
    return Generator.of(how, ahead, producers);
  }

  /**
   * Stages that work at the same time on different messages.
   *
   * @param <I> what goes in
   * @param <O> what comes out
   * @param stage the first one
   * @return a pipeline
   * @see Pipeline#from
   */
  public <I, O> Pipeline<I, O> pipeline(Handler.Returning<I, O> stage) {
    return Pipeline.from(any(), stage);
  }

  /**
   * Maps many items at once and folds the results.
   *
   * @param <T> the items
   * @param <R> the results
   * @param parallel how many at once; at least 1
   * @param items taken as they are needed
   * @param map what to do with each
   * @param zero what to begin with
   * @param reduce folds two results
   * @return completes with the result
   * @see MapReduce#start
   */
  public <T, R> CompletableFuture<R> mapReduce(int parallel, Iterable<T> items, Handler.Returning<T, R> map, R zero,
      BinaryOperator<R> reduce) {
    return MapReduce.start(how, parallel, items, map, zero, reduce);
  }

  @SuppressWarnings("unchecked") // who narrowed the builder gives it messages that it takes
  private ActorBuilder<Object> any() {
    return (ActorBuilder<Object>) how;
  }

  private static final class Threads {
    private static final Stereotypes RECIPES = new Stereotypes(ActorSystem.anonymous().strategy(Strategy.THREAD));
  }

  private static final class Fibers {
    private static final Stereotypes RECIPES = new Stereotypes(ActorSystem.anonymous().strategy(Strategy.FIBER));
  }
}
