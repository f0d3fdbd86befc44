package io.fibry.cluster;

import io.fibry.Outcome;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.store.Store;
import io.fibry.store.StoreBrokenException;
import io.fibry.store.StoreException;
import io.fibry.support.Intercepted;
import io.fibry.time.Scheduler;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;

/**
 * The store of a {@link RemoteNetwork}, as a machine sees it: turns, messages and looks take time,
 * and their answers may be lost. For threads of a simulation.
 */
final class RemoteStore {
  private final RemoteNetwork network;
  private final Machine machine;
  private final Line there;
  private final Line back;

  private RemoteStore(RemoteNetwork network, Machine machine) {
    this.network = network;
    this.machine = machine;
    this.there = network.toServers();
    this.back = new Line(machine.scope());
  }

  static Store of(RemoteNetwork network, Machine machine, Store store) {
    var way = new RemoteStore(network, machine);
    return Intercepted.of(Store.class, store, (method, given, call) -> switch (method.getName()) {
      case "append" -> way.later("stores", () -> store.append((Store.Turn) given[0]));
      case "enqueue" -> way.later("keeps", () -> store.enqueue((Store.PendingMessage) given[0], (int) given[1]));
      case "load" -> way.now("loads", () -> store.load((Store.ActorId) given[0]));
      default -> call.pass();
    });
  }

  private boolean reaches() {
    return !machine.isCrashed() && (network.storeIsApart() || !machine.isCut());
  }

  private <T> CompletionStage<T> later(String what, Supplier<CompletionStage<T>> code) {
    var answer = new CompletableFuture<T>();
    var timer = Scheduler.system().schedule(Remote.PATIENCE, () -> answer.completeExceptionally(unknown(what)));
    answer.whenComplete((value, failure) -> timer.cancel());
    there.add(network.delay(), () -> {
      if (!reaches()) return;
      code.get().whenComplete((value, failure) -> {
        network.mayPause(machine);
        if (network.isUnknown()) return;
        back.add(network.delay(), () -> {
          if (!reaches()) return;
          if (failure == null) answer.complete(value);
          else answer.completeExceptionally(failure);
        });
      });
    });
    return answer;
  }

  private <T> T now(String what, Supplier<T> code) {
    try {
      return later(what, () -> CompletableFuture.completedFuture(code.get())).toCompletableFuture().get();
    } catch (ExecutionException refused) {
      throw (StoreException) refused.getCause();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw unknown(what);
    }
  }

  private static StoreBrokenException unknown(String what) {
    return new StoreBrokenException(what + ": no answer", new TransportException(Failure.UNKNOWN, "it was lost"),
        Outcome.UNKNOWN);
  }
}
