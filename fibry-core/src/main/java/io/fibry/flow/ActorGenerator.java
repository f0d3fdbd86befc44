package io.fibry.flow;

import io.fibry.ActorBuilder;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import java.util.List;
import java.util.Objects;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** A generator: how its producers are made. */
record ActorGenerator<T>(ActorBuilder<Object> how, int ahead, List<Handler<Generator.Output<T>>> producers)
    implements Generator<T> {

  static <T> Generator<T> of(ActorBuilder<?> how, int ahead, List<Handler<Generator.Output<T>>> producers) {
    Objects.requireNonNull(how, "how");
    if (ahead < 1) throw new IllegalArgumentException(
        "producers that may be " + ahead + " elements ahead could never hand one over; give at least 1");
    if (producers.isEmpty())
      throw new IllegalArgumentException("a generator without a producer makes nothing; give at least one");
    return new ActorGenerator<>(open(how), ahead, List.copyOf(producers));
  }

  /** A builder of actors that take what we send them: one message each, so any mailbox will do. */
  @SuppressWarnings("unchecked") // whatever it was narrowed to: only its mailbox would mind
  private static ActorBuilder<Object> open(ActorBuilder<?> how) {
    return ((ActorBuilder<Object>) how).mailbox(Mailbox.unbounded());
  }

  @Override
  public Iteration<T> iterator() {
    var buffer = new ReadAheadBuffer<T>(ahead, producers.size());
    var reading = new ReadAheadIteration<>(buffer);
    // on his own thread none could wait for the reader
    var maker = how.strategy() == Strategy.CALLER ? how.strategy(Strategy.FIBER) : how;
    try {
      for (var producer : producers) buffer.start(maker, producer);
    } catch (Throwable notMade) {
      buffer.end();
      throw notMade;
    }
    buffer.started();
    return reading;
  }

  @Override
  public Stream<T> stream() {
    int promises = Spliterator.NONNULL | (producers.size() == 1 ? Spliterator.ORDERED : 0);
    var opened = new AtomicReference<Iteration<T>>(); // null until it is read
    return StreamSupport.stream(() -> {
      opened.set(iterator());
      return Spliterators.spliteratorUnknownSize(opened.get(), promises);
    }, promises, false).onClose(() -> {
      if (opened.get() != null) opened.get().close();
    });
  }
}
