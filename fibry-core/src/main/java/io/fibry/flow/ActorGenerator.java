package io.fibry.flow;

import io.fibry.ActorBuilder;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.block.Arguments;
import java.util.List;
import java.util.Objects;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** Makes an actor of each producer. */
record ActorGenerator<T>(ActorBuilder<Object> builder, int ahead, List<Handler<Generator.Output<T>>> producers)
    implements Generator<T> {

  static <T> Generator<T> of(ActorBuilder<?> builder, int ahead, List<Handler<Generator.Output<T>>> producers) {
    Objects.requireNonNull(builder, "builder");
    Arguments.atLeastOne(ahead, "producers that may be " + ahead + " elements ahead could never hand one over");
    if (producers.isEmpty())
      throw new IllegalArgumentException("a generator without a producer makes nothing; give at least one");
    return new ActorGenerator<>(Flows.withOwnMessages(builder), ahead, List.copyOf(producers));
  }

  @Override
  public Iteration<T> iterator() {
    var buffer = new ReadAheadBuffer<T>(ahead, producers.size());
    var iteration = new ReadAheadIteration<>(buffer);
    // on the reader's thread a producer could not wait for the reader
    var threaded = builder.strategy() == Strategy.CALLER ? builder.strategy(Strategy.FIBER) : builder;
    try {
      for (var producer : producers) buffer.start(threaded, producer);
    } catch (Throwable failure) {
      buffer.end();
      throw failure;
    }
    buffer.started();
    return iteration;
  }

  @Override
  public Stream<T> stream() {
    int promises = Spliterator.NONNULL | (producers.size() == 1 ? Spliterator.ORDERED : 0);
    var opened = new AtomicReference<Iteration<T>>();
    return StreamSupport.stream(() -> {
      opened.set(iterator());
      return Spliterators.spliteratorUnknownSize(opened.get(), promises);
    }, promises, false).onClose(() -> {
      if (opened.get() != null) opened.get().close();
    });
  }
}
