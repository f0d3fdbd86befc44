package io.fibry.flow;

import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.stream.IntStream;

class RecordingSubscriber implements Flow.Subscriber<Integer> {
  final List<Integer> seen = new CopyOnWriteArrayList<>();
  final CompletableFuture<Object> end = new CompletableFuture<>();
  Flow.Subscription subscription;

  @Override
  public void onSubscribe(Flow.Subscription subscription) {
    this.subscription = subscription;
  }

  @Override
  public void onNext(Integer element) {
    seen.add(element);
  }

  @Override
  public void onError(Throwable failure) {
    if (!end.complete(failure)) throw new AssertionError("a second end", failure);
  }

  @Override
  public void onComplete() {
    if (!end.complete("complete")) throw new AssertionError("a second end");
  }

  static Iterable<Integer> upTo(int end) {
    return () -> IntStream.range(0, end).iterator();
  }

  static RecordingSubscriber read(Iterable<Integer> sequence, long... requests) {
    return read(new RecordingSubscriber(), sequence, requests);
  }

  static <R extends RecordingSubscriber> R read(R reader, Iterable<Integer> sequence, long... requests) {
    Flows.publisher(sequence).subscribe(reader);
    for (long n : requests) reader.subscription.request(n);
    return reader;
  }

  /** Its iterators can be closed. */
  static Iterable<Integer> closing(Iterable<Integer> sequence, CountDownLatch closed) {
    class Closing implements Iterator<Integer>, AutoCloseable {
      private final Iterator<Integer> inner = sequence.iterator();

      @Override
      public boolean hasNext() {
        return inner.hasNext();
      }

      @Override
      public Integer next() {
        return inner.next();
      }

      @Override
      public void close() {
        closed.countDown();
      }
    }
    return Closing::new;
  }
}
