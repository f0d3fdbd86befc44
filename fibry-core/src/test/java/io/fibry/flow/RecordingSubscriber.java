package io.fibry.flow;

import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.stream.IntStream;

class RecordingSubscriber implements Flow.Subscriber<Integer> {
  final List<Integer> received = new CopyOnWriteArrayList<>();
  final CompletableFuture<Object> end = new CompletableFuture<>();
  Flow.Subscription subscription;

  @Override
  public void onSubscribe(Flow.Subscription subscription) {
    this.subscription = subscription;
  }

  @Override
  public void onNext(Integer element) {
    received.add(element);
  }

  @Override
  public void onError(Throwable failure) {
    if (!end.complete(failure)) throw new AssertionError("the stream ended twice", failure);
  }

  @Override
  public void onComplete() {
    if (!end.complete("complete")) throw new AssertionError("the stream ended twice");
  }

  static Iterable<Integer> numbersBelow(int limit) {
    return () -> IntStream.range(0, limit).iterator();
  }

  static RecordingSubscriber read(Iterable<Integer> sequence, long... requests) {
    return read(new RecordingSubscriber(), sequence, requests);
  }

  static <R extends RecordingSubscriber> R read(R reader, Iterable<Integer> sequence, long... requests) {
    FlowBridges.publisher(sequence).subscribe(reader);
    for (long n : requests) reader.subscription.request(n);
    return reader;
  }

  /** Returns a sequence whose iterators count the latch down when they are closed. */
  static Iterable<Integer> closeable(Iterable<Integer> sequence, CountDownLatch closeLatch) {
    class CloseableIterator implements Iterator<Integer>, AutoCloseable {
      private final Iterator<Integer> iterator = sequence.iterator();

      @Override
      public boolean hasNext() {
        return iterator.hasNext();
      }

      @Override
      public Integer next() {
        return iterator.next();
      }

      @Override
      public void close() {
        closeLatch.countDown();
      }
    }
    return CloseableIterator::new;
  }
}
