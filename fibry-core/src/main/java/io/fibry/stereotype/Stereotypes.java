package io.fibry.stereotype;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.Sink;
import io.fibry.Strategy;
import io.fibry.flow.Batch;
import io.fibry.flow.Generator;
import io.fibry.flow.HookedFunction;
import io.fibry.flow.MapReduce;
import io.fibry.flow.Pipeline;
import io.fibry.flow.RateLimit;
import io.fibry.pool.Pools;
import io.fibry.pubsub.ObservableMap;
import io.fibry.pubsub.ObservableValue;
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
@SuppressWarnings("exports") // nullness annotations
public final class Stereotypes extends NetworkStereotypes {
  /** Shared, so that what they make shares its settings. */
  private record RootStereotypes(ActorScope root, Stereotypes threads, Stereotypes fibers) {}

  // the stereotypes of the root that was last asked for, or null: a simulation has another root
  private static volatile RootStereotypes ofRoot;

  private Stereotypes(ActorBuilder<?> how) {
    super(how);
  }

  private static RootStereotypes ofRoot() {
    var root = ActorSystem.root();
    var known = ofRoot;
    if (known == null || known.root != root) ofRoot = known = new RootStereotypes(root,
        new Stereotypes(root.anonymous().strategy(Strategy.THREAD)),
        new Stereotypes(root.anonymous().strategy(Strategy.FIBER)));
    return known;
  }

  /**
   * Recipes with the default strategy.
   *
   * @return recipes
   */
  public static Stereotypes def() {
    return new Stereotypes(ActorSystem.anonymous());
  }

  /**
   * Recipes with a platform thread per actor.
   *
   * @return recipes
   */
  public static Stereotypes threads() {
    return ofRoot().threads;
  }

  /**
   * Recipes with virtual threads.
   *
   * @return recipes
   */
  public static Stereotypes fibers() {
    return ofRoot().fibers;
  }

  /**
   * Recipes that use a builder.
   *
   * @param how the builder
   * @return recipes
   */
  public static Stereotypes of(ActorBuilder<?> how) {
    return new Stereotypes(Objects.requireNonNull(how, "how"));
  }

  /**
   * An object as an actor.
   *
   * @param <S> the object
   * @param state the object, or null
   * @return the actor, at work
   */
  @SuppressWarnings("unchecked") // null is of any type
  public <S> Sink<S> sink(@Nullable S state) {
    return state == null ? (Sink<S>) builder.newSink() : builder.<S>initialState(() -> state).newSink();
  }

  /**
   * Runs a task in a new actor, which then ends; {@code ExitReason.Failed} after a failure.
   *
   * @param task the task
   * @return the actor
   */
  public Exitable runOnce(Handler.Task task) {
    return runOnce(FailurePolicy.stop(), Objects.requireNonNull(task, "task"));
  }

  /**
   * Runs a task once; the task gets its actor.
   *
   * @param task the task
   * @return the actor
   */
  public Exitable runOnce(Handler<Exitable> task) {
    return runOnce(FailurePolicy.stop(), task);
  }

  /**
   * Runs a task once, as {@code runOnce} does, but counts a failure without logging it.
   *
   * @param task the task
   * @return the actor
   */
  public Exitable runOnceSilent(Handler.Task task) {
    return runOnce(FailurePolicy.stop().withoutLog(), Objects.requireNonNull(task, "task"));
  }

  /**
   * Runs a task in an actor, in each period until the actor ends. A long run makes the next one
   * late, without a burst. The failure policy handles failures; the next run comes as planned.
   *
   * @param initial zero or more
   * @param period more than zero
   * @param task the task
   * @return the actor
   */
  public Exitable scheduleAtFixedRate(Duration initial, Duration period, Handler.Task task) {
    Objects.requireNonNull(task, "task");
    return scheduleAtFixedRate(initial, period, (Exitable self) -> task.run());
  }

  /**
   * Runs a task at a fixed rate; the task gets its actor, and can end it.
   * {@snippet class="io.fibry.RecipeSnippetsTest" region="schedule"}
   *
   * @param initial zero or more
   * @param period more than zero
   * @param task the task
   * @return the actor
   */
  public Exitable scheduleAtFixedRate(Duration initial, Duration period, Handler<Exitable> task) {
    return Schedule.atFixedRate(builder, initial, period, task);
  }

  /**
   * Runs a task in an actor, {@code delay} after each run until the actor ends. The failure policy
   * handles failures; the next run comes as planned.
   *
   * @param initial zero or more
   * @param delay more than zero
   * @param task the task
   * @return the actor
   */
  public Exitable scheduleWithFixedDelay(Duration initial, Duration delay, Handler.Task task) {
    Objects.requireNonNull(task, "task");
    return scheduleWithFixedDelay(initial, delay, (Exitable self) -> task.run());
  }

  /**
   * Runs a task with a fixed delay; the task gets its actor, and can end it.
   *
   * @param initial zero or more
   * @param delay more than zero
   * @param task the task
   * @return the actor
   */
  public Exitable scheduleWithFixedDelay(Duration initial, Duration delay, Handler<Exitable> task) {
    return Schedule.withFixedDelay(builder, initial, delay, task);
  }

  /**
   * Sends each file that is created, changed or deleted in a directory, but not below it, at least
   * once. If the system loses track, sends the directory, then all files in it. By default the
   * mailbox keeps 1024 changes, and the system the others. The watch ends with the directory.
   *
   * @param directory the directory to watch
   * @param changed takes absolute paths
   * @return the actor; its end ends the watch
   * @throws IllegalArgumentException if there is no such directory
   * @throws java.io.UncheckedIOException if the system cannot watch it
   */
  public Exitable watchDirectory(Path directory, Handler<Path> changed) {
    return DirectoryWatch.start(builder, directory, changed);
  }

  /**
   * Actors that together handle at most {@code messages} in each {@code period}; the others wait.
   *
   * @param messages at least 1
   * @param period more than zero
   * @return a builder
   * @see RateLimit
   */
  public ActorBuilder<Object> rateLimited(int messages, Duration period) {
    return RateLimit.around(any(), messages, period);
  }

  /**
   * Handles messages in batches: when there are {@code size} messages, when the first message has
   * waited for {@code wait}, and at the end.
   *
   * @param <M> messages
   * @param size at least 1
   * @param wait more than zero
   * @param handler takes a batch: never empty, unmodifiable
   * @return takes the messages
   * @see Batch
   */
  public <M> Actor<M> batch(int size, Duration wait, Handler<List<M>> handler) {
    return Batch.ofLists(any(), size, wait, handler);
  }

  /**
   * A function that takes hooks before it, after it and on its errors.
   *
   * @param <M> its parameter
   * @param <R> its result
   * @param body the function
   * @return the function, without hooks
   */
  public <M, R> HookedFunction<M, R> hooks(Handler.Returning<M, R> body) {
    return HookedFunction.around(builder, body);
  }

  private Exitable runOnce(FailurePolicy policy, Handler.Task task) {
    return runOnce(policy, (Exitable self) -> task.run());
  }

  private Exitable runOnce(FailurePolicy policy, Handler<Exitable> task) {
    Objects.requireNonNull(task, "task");
    var actor = builder.onFailure(policy).newSink();
    actor.execAsync(nothing -> task.handle(actor));
    actor.sendPoisonPill();
    return actor;
  }

  /**
   * A worker for each message.
   *
   * @return a builder
   * @see Pools#perMessage
   */
  public ActorBuilder<Object> poolPerMessage() {
    return Pools.perMessage(any());
  }

  /**
   * A fixed number of workers.
   *
   * @param workers at least 1
   * @return a builder
   * @see Pools#fixed
   */
  public ActorBuilder<Object> pool(int workers) {
    return Pools.fixed(any(), workers);
  }

  /**
   * Adds workers while messages wait, and ends idle ones.
   *
   * @param least at least 0
   * @param most at least 1 and {@code least}
   * @return a builder
   * @see Pools#scaling
   */
  public ActorBuilder<Object> scalingPool(int least, int most) {
    return Pools.scaling(any(), least, most);
  }

  /**
   * Messages that hold permits while they are handled.
   *
   * @param <M> messages
   * @param permits at least 1
   * @param weight a message's permits
   * @return a builder
   * @see Pools#weighted
   */
  public <M> ActorBuilder<M> weightedPool(int permits, ToIntFunction<M> weight) {
    return Pools.weighted(any(), permits, weight);
  }

  /**
   * Messages of one key in order, of different keys at the same time.
   *
   * @param <M> messages
   * @param workers at least 1
   * @param key a message's key
   * @return a builder
   * @see Pools#byKey
   */
  public <M> ActorBuilder<M> poolByKey(int workers, Function<M, ?> key) {
    return Pools.byKey(any(), workers, key);
  }

  /**
   * Sends each message to all subscribers.
   *
   * @param <M> messages
   * @return the topic
   * @see Topic#open
   */
  public <M> Topic<M> topic() {
    return Topic.open(any());
  }

  /**
   * A value to read, change and follow.
   *
   * @param <T> the value
   * @param initial never null
   * @return the value
   * @see ObservableValue#of
   */
  public <T> ObservableValue<T> observableValue(T initial) {
    return ObservableValue.of(builder, initial);
  }

  /**
   * Values by key to read, change and follow.
   *
   * @param <K> keys
   * @param <V> values
   * @return the map, empty
   * @see ObservableMap#of
   */
  public <K, V> ObservableMap<K, V> observableMap() {
    return ObservableMap.of(builder);
  }

  /**
   * A sequence that actors produce while it is read.
   *
   * @param <T> elements
   * @param ahead elements ready but not read; at least 1
   * @param producers at least one
   * @return the sequence
   * @see Generator#of
   */
  @SafeVarargs
  @SuppressWarnings("varargs")
  public final <T> Generator<T> generator(int ahead, Handler<Generator.Output<T>>... producers) {
    return Generator.of(builder, ahead, producers);
  }

  /**
   * Stages that work at the same time on different messages.
   *
   * @param <I> input
   * @param <O> output
   * @param stage the first stage
   * @return a pipeline
   * @see Pipeline#of
   */
  public <I, O> Pipeline<I, O> pipeline(Handler.Returning<I, O> stage) {
    return Pipeline.of(any(), stage);
  }

  /**
   * Maps items at the same time and folds the results.
   *
   * @param <T> items
   * @param <R> results
   * @param parallel items at the same time; at least 1
   * @param items taken when needed
   * @param map maps an item
   * @param zero the first result
   * @param reduce folds two results
   * @return the result to come
   * @see MapReduce#start
   */
  public <T, R> CompletableFuture<R> mapReduce(int parallel, Iterable<T> items, Handler.Returning<T, R> map, R zero,
      BinaryOperator<R> reduce) {
    return MapReduce.start(builder, parallel, items, map, zero, reduce);
  }

  @SuppressWarnings("unchecked") // erased
  private ActorBuilder<Object> any() {
    return (ActorBuilder<Object>) builder;
  }
}
