package io.fibry.nats;

import io.fibry.store.Store;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Stores messages that are to wait for an actor. Fields are of its lane. */
final class MessageWriter {
  /** A message that is being stored. */
  private record GivenMessage(StoreTask.EnqueueTask task, JetStreamLog.WriteAttempt attempt) {}

  private final StreamStore store;
  private final JetStreamLog log;
  private final Store.ActorId id;
  private final PendingMessages pendingMessages;
  private final SerialExecutor<StoreTask.EnqueueTask> executor;

  MessageWriter(StreamStore store, Store.ActorId id, PendingMessages pendingMessages, Runnable idle) {
    this.store = store;
    this.log = store.log();
    this.id = id;
    this.pendingMessages = pendingMessages;
    this.executor = new SerialExecutor<>("messages to " + id, this::accept, idle);
  }

  SerialExecutor<StoreTask.EnqueueTask> executor() {
    return executor;
  }

  private void accept(List<StoreTask.EnqueueTask> tasks) {
    var given = new ArrayList<GivenMessage>();
    var outcomes = new ArrayList<WriteOutcome>();
    try {
      var room = admit(tasks);
      for (var task : tasks)
        if (!room.contains(task)) task.complete(false);
        else given.add(startWrite(task));
      var end = log.newDeadline(); // the server knows ids from the first attempt on
      var first = given.stream().map(one -> one.attempt.make()).toList();
      for (var one : first) outcomes.add(one.join());
      settle(given, outcomes, end);
    } catch (Throwable failure) { // some may have left
      for (var one : given) one.task.completeExceptionally(store.outcomeUnknown(failure, "a message for " + id));
      for (var one : tasks) one.completeExceptionally(store.refusal(failure));
    }
  }

  private GivenMessage startWrite(StoreTask.EnqueueTask task) {
    String once = store.uniqueName();
    return new GivenMessage(task, () -> log.add(pendingMessages.addition(task.message()), once));
  }

  // ---- how many

  /**
   * Those that are not too many. Others may have sent or done some, so it looks before it refuses.
   */
  private Set<StoreTask.EnqueueTask> admit(List<StoreTask.EnqueueTask> tasks) {
    if (tasks.stream().allMatch(one -> one.maxPending() == Integer.MAX_VALUE)) return Set.copyOf(tasks);
    boolean fresh = !pendingMessages.hasAllPositions();
    if (fresh) pendingMessages.loadIds();
    var taken = new HashSet<StoreTask.EnqueueTask>();
    for (var one : tasks) {
      if (!fresh && !hasRoom(one, taken)) {
        pendingMessages.loadIds();
        fresh = true;
      }
      if (hasRoom(one, taken)) taken.add(one);
    }
    return taken;
  }

  private boolean hasRoom(StoreTask.EnqueueTask task, Set<StoreTask.EnqueueTask> taken) {
    var known = pendingMessages.positions();
    if (known.size() + taken.size() < task.maxPending()) return true;
    var due = task.message().due();
    return taken.stream().filter(one -> !one.message().due().isAfter(due)).count()
        + known.values().stream().filter(one -> !one.due().isAfter(due)).count() < task.maxPending();
  }

  // ---- what became of them

  /** Those that are tried again have one limit. */
  private void settle(List<GivenMessage> given, List<WriteOutcome> outcomes, JetStreamLog.AttemptDeadline end) {
    for (int i = 0; i < given.size(); i++) {
      var one = given.get(i);
      var outcome = outcomes.get(i);
      boolean again = outcome instanceof WriteOutcome.RetryableFailure && !isOvertaken(i, given, outcomes);
      settle(one.task, again ? log.settle(one.attempt, outcome, end) : outcome);
    }
  }

  /** A message that is tried again must not get behind later messages of its sender. */
  private static boolean isOvertaken(int index, List<GivenMessage> given, List<WriteOutcome> outcomes) {
    for (int i = index + 1; i < given.size(); i++)
      if (given.get(i).task.senderThread() == given.get(index).task.senderThread() && mayBeStored(outcomes.get(i)))
        return true;
    return false;
  }

  private static boolean mayBeStored(WriteOutcome outcome) {
    return outcome instanceof WriteOutcome.WriteSuccess
        || outcome instanceof WriteOutcome.RetryableFailure again && again.isUnknown();
  }

  private void settle(StoreTask.EnqueueTask task, WriteOutcome outcome) {
    var message = task.message();
    if (!(outcome instanceof WriteOutcome.WriteSuccess here)) {
      task.completeExceptionally(store.refusal(outcome, "a message for " + id));
      return;
    }
    var before = pendingMessages.positions().get(message.id());
    pendingMessages.notePending(message.id(), here.seq(), message.due());
    if (before != null && before.seq() < here.seq()) pendingMessages.removeBefore(message.id(), here.seq());
    task.complete(true);
  }
}
