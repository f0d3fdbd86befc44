package io.fibry.testing;

import io.fibry.ActorBuilder;
import io.fibry.ActorWithReturn;
import io.fibry.FailurePolicy;
import io.fibry.engine.cell.ActorInternals;
import io.fibry.support.Patience;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** A message with code that its handler runs. */
public record Job(String name, Callable<?> code) implements Callable<Object> {

  public interface Act {
    void run() throws Exception;
  }

  public static Job act(String name, Act code) {
    return new Job(name, () -> {
      code.run();
      return "done";
    });
  }

  /** Returns an actor that runs jobs. */
  public static ActorWithReturn<Object, Object> worker(ActorBuilder<Object> builder) {
    return builder.onFailure(FailurePolicy.resume().withoutLog())
        .newActorWithReturn((Object message) -> message instanceof Job job ? job.call() : message);
  }

  @Override
  public Object call() throws Exception {
    return code.call();
  }

  /** Sends the job. The future completes with its result, or with the exception that it threw. */
  public static CompletableFuture<Object> start(ActorWithReturn<Object, Object> worker, Job job) {
    return worker.sendMessageReturn((Object) job).handle((answer, failure) -> failure == null ? answer
        : failure instanceof CompletionException wrapper ? wrapper.getCause() : failure);
  }

  /** Waits until a handler of each worker has published its wait and is parked. */
  @SafeVarargs
  public static void awaitWaits(ActorWithReturn<Object, Object>... workers) {
    for (var worker : workers) {
      Patience.eventually(() -> ActorInternals.isHandlerWaiting(worker));
      Patience.awaitParked(ActorInternals.thread(worker));
    }
  }

  /** Returns a job that runs the code of this job once these workers wait. */
  @SafeVarargs
  public final Job onceWaiting(ActorWithReturn<Object, Object>... workers) {
    return new Job(name, () -> {
      awaitWaits(workers);
      return code.call();
    });
  }

  @Override
  public String toString() {
    return name;
  }
}
