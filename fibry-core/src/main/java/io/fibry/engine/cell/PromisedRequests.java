package io.fibry.engine.cell;

import io.fibry.engine.message.RequestFuture;

/**
 * The requests whose answers an actor has promised for later, in the order of the promises. Guarded
 * by the monitor of the extras, until the thread that ends the actor has taken the list.
 *
 * <p>A linked list, whose elements are stored in their requests. A map would need a hash code of
 * each request, which the JVM computes in a slow call.
 */
final class PromisedRequests {
  /** A promise, and an element of the list. */
  static final class Promise {
    final RequestFuture<?> request;
    final Object message;
    final Runnable onAbandoned; // the code to run if the asker stops waiting
    private Promise previous;
    Promise next; // the promise that was made next; null if this promise is the last

    private Promise(RequestFuture<?> request, Object message, Runnable onAbandoned) {
      this.request = request;
      this.message = message;
      this.onAbandoned = onAbandoned;
    }
  }

  private Promise first;
  private Promise last;

  void add(RequestFuture<?> request, Object message, Runnable onAbandoned) {
    var promise = new Promise(request, message, onAbandoned);
    promise.previous = last;
    if (last == null) first = promise;
    else last.next = promise;
    last = promise;
    request.promise = promise;
  }

  /** Removes the promise of the request. Returns null if there is none. */
  Promise remove(RequestFuture<?> request) {
    var promise = (Promise) request.promise;
    return promise == null ? null : remove(promise);
  }

  private Promise remove(Promise promise) {
    promise.request.promise = null;
    if (promise.previous == null) first = promise.next;
    else promise.previous.next = promise.next;
    if (promise.next == null) last = promise.previous;
    else promise.next.previous = promise.previous;
    promise.previous = promise.next = null; // a dead element in the old generation keeps no younger element in memory
    return promise;
  }

  /** Returns the first promise, or null if there is none. */
  Promise first() {
    return first;
  }

  /** Removes and returns the first promise, or returns null if there is none. */
  Promise poll() {
    return first == null ? null : remove(first);
  }
}
