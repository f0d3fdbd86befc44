package io.fibry.flow;

import io.fibry.ActorBuilder;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.block.Arguments;
import io.fibry.block.ChangedCopy;
import io.fibry.spi.BlockBuilder;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.util.List;
import java.util.NoSuchElementException;
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
    Arguments.requireAtLeastOne(ahead, "producers that may be " + ahead + " elements ahead could never hand one over");
    if (producers.isEmpty())
      throw new IllegalArgumentException("a generator without a producer makes nothing; give at least one");
    return new ActorGenerator<>(ChangedCopy.withOwnMessages(builder), ahead, List.copyOf(producers));
  }

  @Override
  public Iteration<T> iterator() {
    var buffer = new ReadAheadBuffer<T>(ahead, producers.size());
    var iteration = new ReadAheadIteration<>(buffer);
    // on the reader's thread a producer could not wait for the reader
    var threaded = BlockBuilder.of(builder).strategy() == Strategy.CALLER ? builder.strategy(Strategy.FIBER) : builder;
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

  /**
   * The reader's side of a {@link ReadAheadBuffer}. Neither buffer nor producers refer to it: when
   * it is garbage, the cleaner ends the producers.
   *
   * <p>It takes up to a quarter of {@code ahead} at once, to spare the lock. These count as unread
   * until the last of them is read.
   */
  private static final class ReadAheadIteration<T> implements Iteration<T> {
    private static final Cleaner CLEANER = Cleaner.create();
    private static final int MAX_TAKEN = 64;

    private final ReadAheadBuffer<T> buffer;
    private final Cleaner.Cleanable producers;
    private final Object[] taken; // of the reader, as the next two
    private int next;
    private int end;

    ReadAheadIteration(ReadAheadBuffer<T> buffer) {
      this.buffer = buffer;
      this.taken = new Object[Math.clamp(buffer.ahead / 4, 1, MAX_TAKEN)];
      this.producers = CLEANER.register(this, buffer::end);
    }

    @Override
    public boolean hasNext() {
      try {
        buffer.refuseIfClosed();
        if (next < end) return true;
        next = 0;
        end = 0; // `take` may throw
        end = buffer.take(taken);
        if (end == 0) producers.clean();
        return end > 0;
      } finally {
        Reference.reachabilityFence(this); // not garbage while it waits
      }
    }

    @Override
    @SuppressWarnings("unchecked")
    public T next() {
      if (!hasNext()) throw new NoSuchElementException("the producers have no more; ask hasNext() first");
      if (next + 1 == end) buffer.allRead(); // first: if the stack ends there, the element is still to be read
      var element = (T) taken[next];
      taken[next++] = null;
      return element;
    }

    @Override
    public void close() {
      buffer.close();
      producers.clean();
      buffer.awaitEnd();
    }
  }
}
