package io.fibry;

import io.fibry.engine.cell.Inside;
import io.fibry.support.Patience;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** A message that is the code to run. */
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

  /** An actor that runs jobs. */
  public static ActorWithReturn<Object, Object> worker(ActorBuilder<Object> builder) {
    return builder.onFailure(FailurePolicy.resume().withoutLog())
        .newActorWithReturn((Object message) -> message instanceof Job job ? job.call() : message);
  }

  @Override
  public Object call() throws Exception {
    return code.call();
  }

  /** Sends the job; completes with its result, or with what it threw. */
  public static CompletableFuture<Object> start(ActorWithReturn<Object, Object> worker, Job job) {
    return worker.sendMessageReturn((Object) job).handle((answer, failure) -> failure == null ? answer
        : failure instanceof CompletionException wrapped ? wrapped.getCause() : failure);
  }

  /** Waits until a handler of each worker has published its wait and is parked. */
  @SafeVarargs
  public static void waiting(ActorWithReturn<Object, Object>... workers) {
    for (var worker : workers) {
      Patience.eventually(() -> Inside.waits(worker));
      Patience.parked(Inside.thread(worker));
    }
  }

  /** This job, run once these workers wait. */
  @SafeVarargs
  public final Job once(ActorWithReturn<Object, Object>... workers) {
    return new Job(name, () -> {
      waiting(workers);
      return code.call();
    });
  }

  @Override
  public String toString() {
    return name;
  }
}
