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

/** Starts an actor for each producer whenever an iteration begins. */
record ActorGenerator<T>(ActorBuilder<Object> builder, int maxUnread, List<Handler<Generator.Output<T>>> producers)
    implements Generator<T> {

  static <T> Generator<T> of(ActorBuilder<?> builder, int maxUnread, List<Handler<Generator.Output<T>>> producers) {
    Objects.requireNonNull(builder, "builder");
    Arguments.requireAtLeastOne(maxUnread,
        "a buffer of " + maxUnread + " elements could never hold the next element");
    if (producers.isEmpty())
      throw new IllegalArgumentException("a generator without a producer makes nothing; give at least one");
    return new ActorGenerator<>(ChangedCopy.forBlockMessages(builder), maxUnread, List.copyOf(producers));
  }

  @Override
  public Iteration<T> iterator() {
    var buffer = new ReadAheadBuffer<T>(maxUnread, producers.size());
    var iteration = new ReadAheadIteration<>(buffer);
    // on the reader's own thread, a producer could not wait for the reader
    boolean isOnCaller = BlockBuilder.of(builder).strategy() == Strategy.CALLER;
    var producerBuilder = isOnCaller ? builder.strategy(Strategy.FIBER) : builder;
    try {
      for (var producer : producers) buffer.start(producerBuilder, producer);
    } catch (Throwable failure) {
      buffer.end();
      throw failure;
    }
    buffer.markAllStarted();
    return iteration;
  }

  @Override
  public Stream<T> stream() {
    int characteristics = Spliterator.NONNULL | (producers.size() == 1 ? Spliterator.ORDERED : 0);
    var openedIteration = new AtomicReference<Iteration<T>>();
    return StreamSupport.stream(() -> {
      openedIteration.set(iterator());
      return Spliterators.spliteratorUnknownSize(openedIteration.get(), characteristics);
    }, characteristics, false).onClose(() -> {
      if (openedIteration.get() != null) openedIteration.get().close();
    });
  }

  /**
   * The reader's side of a {@link ReadAheadBuffer}. Neither the buffer nor the producers refer to
   * this object, so the cleaner ends the producers when this object is garbage.
   *
   * <p>An iteration takes several elements from the buffer at once, up to a quarter of
   * {@code maxUnread} but at most 64, to acquire the lock less often. The taken elements count as
   * unread until the last of them is read.
   */
  private static final class ReadAheadIteration<T> implements Iteration<T> {
    private static final Cleaner CLEANER = Cleaner.create();
    private static final int MAX_CHUNK = 64;

    private final ReadAheadBuffer<T> buffer;
    private final Cleaner.Cleanable producerCleanup;
    private final Object[] chunk; // elements taken from the buffer; used only by the reader, like both indexes
    private int nextIndex;
    private int endIndex;

    ReadAheadIteration(ReadAheadBuffer<T> buffer) {
      this.buffer = buffer;
      this.chunk = new Object[Math.clamp(buffer.maxUnread / 4, 1, MAX_CHUNK)];
      this.producerCleanup = CLEANER.register(this, buffer::end);
    }

    @Override
    public boolean hasNext() {
      try {
        buffer.refuseIfClosed();
        if (nextIndex < endIndex) return true;
        nextIndex = 0;
        endIndex = 0; // set before the call of `takeElements`, because that call may throw
        endIndex = buffer.takeElements(chunk);
        if (endIndex == 0) producerCleanup.clean();
        return endIndex > 0;
      } finally {
        Reference.reachabilityFence(this); // the cleaner must not end the producers while a reader waits here
      }
    }

    @Override
    @SuppressWarnings("unchecked")
    public T next() {
      if (!hasNext()) throw new NoSuchElementException("the producers have no more elements; call hasNext() first");
      // called before the element is removed: if this call overflows the stack, the element can be
      // read again
      if (nextIndex + 1 == endIndex) buffer.onChunkRead();
      var element = (T) chunk[nextIndex];
      chunk[nextIndex++] = null;
      return element;
    }

    @Override
    public void close() {
      buffer.close();
      producerCleanup.clean();
      buffer.awaitEnd();
    }
  }
}
