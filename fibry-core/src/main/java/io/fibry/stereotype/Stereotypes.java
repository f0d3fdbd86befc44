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
 * Makes ready-made actors and blocks; each recipe is one line. Immutable and thread-safe.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="stereotypes"}
 */
@SuppressWarnings("exports") // nullness annotations
public final class Stereotypes extends NetworkStereotypes {
  /** The recipes of one root scope, cached so that the actors of all calls share their settings. */
  private record RootStereotypes(ActorScope root, Stereotypes threads, Stereotypes fibers) {}

  // Made for the root scope of the last call, and made again if the root changes, because each
  // simulation has its own root. Null before the first call
  private static volatile RootStereotypes lastUsed;

  private Stereotypes(ActorBuilder<?> builder) {
    super(builder);
  }

  private static RootStereotypes ofRoot() {
    var root = ActorSystem.root();
    var cached = lastUsed;
    if (cached == null || cached.root != root) lastUsed = cached = new RootStereotypes(root,
        new Stereotypes(root.anonymous().strategy(Strategy.THREAD)),
        new Stereotypes(root.anonymous().strategy(Strategy.FIBER)));
    return cached;
  }

  /**
   * Returns recipes whose actors have the default strategy.
   *
   * @return recipes
   */
  public static Stereotypes def() {
    return new Stereotypes(ActorSystem.anonymous());
  }

  /**
   * Returns recipes whose actors have a platform thread each.
   *
   * @return recipes
   */
  public static Stereotypes threads() {
    return ofRoot().threads;
  }

  /**
   * Returns recipes whose actors run on virtual threads.
   *
   * @return recipes
   */
  public static Stereotypes fibers() {
    return ofRoot().fibers;
  }

  /**
   * Returns recipes that make their actors with a builder, and therefore with its settings.
   *
   * @param builder the builder
   * @return recipes
   */
  public static Stereotypes of(ActorBuilder<?> builder) {
    return new Stereotypes(Objects.requireNonNull(builder, "builder"));
  }

  /**
   * Makes a sink: an actor that owns an object, and runs code on it, one message at a time.
   *
   * @param <S> the type of the object
   * @param state the object; null if the code needs none. A restart keeps it
   * @return the sink
   */
  @SuppressWarnings("unchecked") // without an object, the sink passes null, which is of any type
  public <S> Sink<S> sink(@Nullable S state) {
    return state == null ? (Sink<S>) builder.newSink() : builder.newSink(state);
  }

  /**
   * Runs a task once, in a new actor, which then ends. If the task throws, the actor ends with
   * {@code ExitReason.Failed}.
   *
   * @param task the task
   * @return the actor
   */
  public Exitable runOnce(Handler.Task task) {
    return runOnce(FailurePolicy.stop(), Objects.requireNonNull(task, "task"));
  }

  /**
   * Runs a task once, in a new actor, and passes the actor to the task.
   *
   * @param task the task
   * @return the actor
   */
  public Exitable runOnce(Handler<Exitable> task) {
    return runOnce(FailurePolicy.stop(), task);
  }

  /**
   * Runs a task once, in a new actor; a failure of the task is counted, but not logged.
   *
   * @param task the task
   * @return the actor
   */
  public Exitable runOnceSilent(Handler.Task task) {
    return runOnce(FailurePolicy.stop().withoutLog(), Objects.requireNonNull(task, "task"));
  }

  /**
   * Runs a task in an actor, once in each period until the actor ends. After a long run the next
   * run is late, and missed runs are skipped. If the task throws, and the failure policy does not
   * end the actor, the next run starts as planned.
   *
   * @param initial the time before the first run; zero or more
   * @param period the time between the starts of two runs; more than zero
   * @param task the task
   * @return the actor
   */
  public Exitable scheduleAtFixedRate(Duration initial, Duration period, Handler.Task task) {
    Objects.requireNonNull(task, "task");
    return scheduleAtFixedRate(initial, period, (Exitable self) -> task.run());
  }

  /**
   * Runs a task at a fixed rate, and passes its actor to the task, which can end the actor.
   * {@snippet class="io.fibry.FlowSnippetsTest" region="schedule"}
   *
   * @param initial the time before the first run; zero or more
   * @param period the time between the starts of two runs; more than zero
   * @param task the task
   * @return the actor
   */
  public Exitable scheduleAtFixedRate(Duration initial, Duration period, Handler<Exitable> task) {
    return Schedule.atFixedRate(builder, initial, period, task);
  }

  /**
   * Runs a task in an actor, and again {@code delay} after the end of each run, until the actor
   * ends. If the task throws, and the failure policy does not end the actor, runs continue.
   *
   * @param initial the time before the first run; zero or more
   * @param delay the time between the end of a run and the next start; more than zero
   * @param task the task
   * @return the actor
   */
  public Exitable scheduleWithFixedDelay(Duration initial, Duration delay, Handler.Task task) {
    Objects.requireNonNull(task, "task");
    return scheduleWithFixedDelay(initial, delay, (Exitable self) -> task.run());
  }

  /**
   * Runs a task with a fixed delay, and passes its actor to the task, which can end the actor.
   *
   * @param initial the time before the first run; zero or more
   * @param delay the time between the end of a run and the next start; more than zero
   * @param task the task
   * @return the actor
   */
  public Exitable scheduleWithFixedDelay(Duration initial, Duration delay, Handler<Exitable> task) {
    return Schedule.withFixedDelay(builder, initial, delay, task);
  }

  /**
   * Watches a directory, but not the directories in it. The handler gets the path of each file that
   * is created, changed or deleted, at least once. If the operating system loses changes, the
   * handler gets the path of the directory, then of each file in it. The default mailbox holds 1024
   * changes; while it is full, further changes wait in the operating system. The actor ends when
   * the directory is deleted.
   *
   * @param directory the directory to watch
   * @param handler called with the absolute path of each changed file
   * @return the actor that calls {@code handler}; its end ends the watch
   * @throws IllegalArgumentException if there is no such directory
   * @throws java.io.UncheckedIOException if the operating system cannot watch it
   */
  public Exitable watchDirectory(Path directory, Handler<Path> handler) {
    return DirectoryWatch.start(builder, directory, handler);
  }

  /**
   * Returns a builder of actors that handle at most {@code messages} messages in each period on
   * average, and at most {@code messages} in a burst; further messages wait. All actors of the
   * builder share one limit.
   *
   * @param messages at least 1
   * @param period more than zero
   * @return a builder
   * @see RateLimit
   */
  public ActorBuilder<Object> rateLimited(int messages, Duration period) {
    return RateLimit.around(untypedBuilder(), messages, period);
  }

  /**
   * Handles messages in batches. A batch is handled when it has {@code size} messages, when its
   * first message has waited for {@code wait}, or when the actor ends.
   *
   * @param <M> the type of the messages
   * @param size the maximum number of messages of a batch; at least 1
   * @param wait how long the first message of a batch waits for further messages; more than zero
   * @param handler called with each batch, which is unmodifiable and never empty
   * @return the actor that the messages are sent to
   * @see Batch
   */
  public <M> Actor<M> batch(int size, Duration wait, Handler<List<M>> handler) {
    return Batch.ofLists(untypedBuilder(), size, wait, handler);
  }

  /**
   * Makes a function to which hooks can be added: before it, after it, and for its errors.
   *
   * @param <M> the type of the parameter
   * @param <R> the type of the result
   * @param body the code of the function
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
    actor.execAsync(unused -> task.handle(actor));
    actor.sendPoisonPill();
    return actor;
  }

  /**
   * Returns a builder of pools that make a worker for each message.
   *
   * @return a builder
   * @see Pools#perMessage
   */
  public ActorBuilder<Object> poolPerMessage() {
    return Pools.perMessage(untypedBuilder());
  }

  /**
   * Returns a builder of pools with a fixed number of workers.
   *
   * @param workers at least 1
   * @return a builder
   * @see Pools#fixed
   */
  public ActorBuilder<Object> pool(int workers) {
    return Pools.fixed(untypedBuilder(), workers);
  }

  /**
   * Returns a builder of pools that add workers while messages wait, and end idle workers.
   *
   * @param minWorkers how many workers stay while they are idle; at least 0
   * @param maxWorkers at least 1 and at least {@code minWorkers}
   * @return a builder
   * @see Pools#scaling
   */
  public ActorBuilder<Object> scalingPool(int minWorkers, int maxWorkers) {
    return Pools.scaling(untypedBuilder(), minWorkers, maxWorkers);
  }

  /**
   * Returns a builder of pools whose messages hold permits while they are handled.
   *
   * @param <M> the type of the messages
   * @param permits how many permits there are; at least 1
   * @param weight returns how many permits a message needs
   * @return a builder
   * @see Pools#weighted
   */
  public <M> ActorBuilder<M> weightedPool(int permits, ToIntFunction<M> weight) {
    return Pools.weighted(untypedBuilder(), permits, weight);
  }

  /**
   * Returns a builder of pools that handle messages with equal keys in order, and messages with
   * different keys at the same time.
   *
   * @param <M> the type of the messages
   * @param workers at least 1
   * @param key returns the key of a message
   * @return a builder
   * @see Pools#byKey
   */
  public <M> ActorBuilder<M> poolByKey(int workers, Function<M, ?> key) {
    return Pools.byKey(untypedBuilder(), workers, key);
  }

  /**
   * Opens a topic, which sends each message to all its subscribers.
   *
   * @param <M> the type of the messages
   * @return the topic
   * @see Topic#open
   */
  public <M> Topic<M> topic() {
    return Topic.open(untypedBuilder());
  }

  /**
   * Makes a value that actors and threads can read, change and subscribe to.
   *
   * @param <T> the type of the value
   * @param initial the first value, never null
   * @return the observable value
   * @see ObservableValue#of
   */
  public <T> ObservableValue<T> observableValue(T initial) {
    return ObservableValue.of(builder, initial);
  }

  /**
   * Makes a map whose values actors and threads can read, change and subscribe to.
   *
   * @param <K> the type of the keys
   * @param <V> the type of the values
   * @return the empty map
   * @see ObservableMap#of
   */
  public <K, V> ObservableMap<K, V> observableMap() {
    return ObservableMap.of(builder);
  }

  /**
   * Makes a sequence whose elements are produced by actors while it is read.
   *
   * @param <T> the type of the elements
   * @param bufferSize how many produced elements may wait to be read; at least 1
   * @param producers write the elements; at least one producer
   * @return the sequence
   * @see Generator#of
   */
  @SafeVarargs
  @SuppressWarnings("varargs")
  public final <T> Generator<T> generator(int bufferSize, Handler<Generator.Output<T>>... producers) {
    return Generator.of(builder, bufferSize, producers);
  }

  /**
   * Makes a pipeline, whose stages work at the same time on different messages.
   *
   * @param <I> the type of the input
   * @param <O> the type of the output
   * @param stage the first stage
   * @return a pipeline
   * @see Pipeline#of
   */
  public <I, O> Pipeline<I, O> pipeline(Handler.Returning<I, O> stage) {
    return Pipeline.of(untypedBuilder(), stage);
  }

  /**
   * Maps items in parallel, and reduces the results to one result.
   *
   * @param <T> the type of the items
   * @param <R> the type of the results
   * @param maxParallel how many items are mapped at the same time; at least 1
   * @param items the items; an item is taken when an actor is free to map it
   * @param map maps an item to a result
   * @param zero the value with which the reduction begins; the result if there are no items
   * @param reduce combines two results to one
   * @return a future of the combined result
   * @see MapReduce#start
   */
  public <T, R> CompletableFuture<R> mapReduce(int maxParallel, Iterable<T> items, Handler.Returning<T, R> map, R zero,
      BinaryOperator<R> reduce) {
    return MapReduce.start(builder, maxParallel, items, map, zero, reduce);
  }

  @SuppressWarnings("unchecked") // the message type of a builder is erased
  private ActorBuilder<Object> untypedBuilder() {
    return (ActorBuilder<Object>) builder;
  }
}
