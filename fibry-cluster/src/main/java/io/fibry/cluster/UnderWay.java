package io.fibry.cluster;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Requests of other nodes that are not answered yet. Their askers may take them back. Thread-safe.
 */
final class UnderWay {
  private final Map<String, CompletableFuture<?>> answers = new ConcurrentHashMap<>(); // by the id of the request

  /** Until it is answered. */
  void add(Wire request, CompletableFuture<?> answer) {
    var id = request.header(Route.ID);
    if (id.isEmpty()) return; // of a foreign program
    answers.put(id.get(), answer);
    answer.whenComplete((value, failure) -> answers.remove(id.get(), answer));
  }

  int size() {
    return answers.size();
  }

  /** On the engine's thread. What has not begun is not handled, what has can see that. */
  void takeBack(Wire wire) {
    var answer = wire.header(Route.ID).map(answers::get);
    answer.ifPresent(one -> one.cancel(false));
  }
}
