package io.fibry.cluster;

import io.fibry.RequestOutcome;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.store.Store;
import io.fibry.store.StoreBrokenException;
import io.fibry.store.StoreException;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Intercepted;
import io.fibry.time.Scheduler;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;

/**
 * The store of a {@link RemoteNetwork}, as a machine sees it; for threads of a simulation. Turns,
 * messages and reads take time, and their answers may be lost.
 */
final class RemoteStore {
  private final RemoteNetwork network;
  private final Machine machine;
  private final DelayedLine toServers;
  private final DelayedLine toMachine;

  private RemoteStore(RemoteNetwork network, Machine machine) {
    this.network = network;
    this.machine = machine;
    this.toServers = network.toServers();
    this.toMachine = new DelayedLine(machine.scope());
  }

  static StoreBackend of(RemoteNetwork network, Machine machine, Store servers) {
    var store = StoreBackend.of(servers);
    var remoteStore = new RemoteStore(network, machine);
    return Intercepted.of(StoreBackend.class, store, (method, arguments, original) -> switch (method.getName()) {
      case "append" -> remoteStore.callAsync("stores", () -> store.append((StoreBackend.Turn) arguments[0]));
      case "enqueue" -> remoteStore.callAsync("enqueues",
          () -> store.enqueue((StoreBackend.PendingMessage) arguments[0], (int) arguments[1]));
      case "load" -> remoteStore.call("loads", () -> store.load((Store.ActorId) arguments[0]));
      default -> original.pass();
    });
  }

  private boolean isReachable() {
    return !machine.isCrashed() && (network.isStoreSeparate() || !machine.isCut());
  }

  private <T> CompletionStage<T> callAsync(String operation, Supplier<CompletionStage<T>> code) {
    var answer = new CompletableFuture<T>();
    var timer = Scheduler.system().schedule(RemoteMachineTransport.ANSWER_LIMIT,
        () -> answer.completeExceptionally(unknown(operation)));
    answer.whenComplete((value, failure) -> timer.cancel());
    toServers.add(network.delay(), () -> {
      if (!isReachable()) return;
      code.get().whenComplete((value, failure) -> {
        network.pauseSometimes(machine);
        if (network.isAnswerLost()) return;
        toMachine.add(network.delay(), () -> {
          if (!isReachable()) return;
          if (failure == null) answer.complete(value);
          else answer.completeExceptionally(failure);
        });
      });
    });
    return answer;
  }

  private <T> T call(String operation, Supplier<T> code) {
    try {
      return callAsync(operation, () -> CompletableFuture.completedFuture(code.get())).toCompletableFuture().get();
    } catch (ExecutionException refused) {
      throw (StoreException) refused.getCause();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw unknown(operation);
    }
  }

  private static StoreBrokenException unknown(String operation) {
    return new StoreBrokenException(operation + ": no answer",
        new TransportException(Failure.UNKNOWN, "the message or its answer was lost"), RequestOutcome.UNKNOWN);
  }
}
