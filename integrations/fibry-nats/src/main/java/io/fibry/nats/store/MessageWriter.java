package io.fibry.nats.store;

import io.fibry.nats.stream.JetStreamLog;
import io.fibry.nats.stream.WriteOutcome;
import io.fibry.store.Store;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Stores the pending messages of one actor, on the fiber of its {@link SerialExecutor}.
 *
 * <p><b>Order.</b> Messages of one thread are stored in the order in which the thread sent them. So
 * a message without an answer is not sent again if a later message of its thread has perhaps been
 * stored. Instead, the writer accepts a late answer until the next message of the thread has its
 * outcome. If the answer is still missing then, the server may have lost the message.
 */
final class MessageWriter {
  private static final WriteOutcome NO_ANSWER = new WriteOutcome.RetryableFailure("no answer came in time", true);

  /**
   * A message, and the attempts that store it.
   *
   * @param first the outcome of the first attempt, which may wait for its answer until the deadline
   */
  private record MessageAttempt(StoreTasks.EnqueueTask task, CompletableFuture<WriteOutcome> first,
      JetStreamLog.WriteAttempt retry) {}

  private final StoreContext store;
  private final JetStreamLog log;
  private final Store.ActorId id;
  private final PendingMessages pendingMessages;
  private final SerialExecutor<StoreTasks.EnqueueTask> executor;

  MessageWriter(StoreContext store, Store.ActorId id, PendingMessages pendingMessages, Runnable onIdle) {
    this.store = store;
    this.log = store.log();
    this.id = id;
    this.pendingMessages = pendingMessages;
    this.executor = new SerialExecutor<>("messages to " + id, this::storeAll, onIdle);
  }

  SerialExecutor<StoreTasks.EnqueueTask> executor() {
    return executor;
  }

  private void storeAll(List<StoreTasks.EnqueueTask> tasks) {
    var writes = new ArrayList<MessageAttempt>();
    var outcomes = new ArrayList<WriteOutcome>();
    try {
      var admitted = admit(tasks);
      // set before the attempts, so that the server still remembers their ids at the deadline
      var deadline = log.newDeadline();
      for (var task : tasks)
        if (!admitted.contains(task)) task.complete(false);
        else writes.add(firstAttempt(task));
      var waits = writes.stream().map(write -> awaitingAnswer(write.first)).toList();
      for (var wait : waits) outcomes.add(wait.join());
      settle(writes, outcomes, deadline);
    } catch (Throwable failure) { // some messages may have been sent
      for (var write : writes) write.task.completeExceptionally(store.unknownOutcome(failure, "a message for " + id));
      for (var task : tasks) task.completeExceptionally(store.refusal(failure));
    }
  }

  private MessageAttempt firstAttempt(StoreTasks.EnqueueTask task) {
    String deduplicationId = store.uniqueName();
    var message = pendingMessages.toStreamMessage(task.message());
    var limit = log.limit().compareTo(JetStreamLog.ANSWER_TIMEOUT) > 0 ? log.limit() : JetStreamLog.ANSWER_TIMEOUT;
    return new MessageAttempt(task, log.add(message, deduplicationId, limit), () -> log.add(message, deduplicationId));
  }

  private static CompletableFuture<WriteOutcome> awaitingAnswer(CompletableFuture<WriteOutcome> attempt) {
    return attempt.copy().completeOnTimeout(NO_ANSWER, JetStreamLog.ANSWER_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS);
  }

  // ---- limits of pending messages

  /**
   * Returns the tasks whose limits permit their messages. Because other stores may have sent or
   * handled messages, the current ids are loaded before a task is refused.
   */
  private Set<StoreTasks.EnqueueTask> admit(List<StoreTasks.EnqueueTask> tasks) {
    if (tasks.stream().allMatch(task -> task.maxPending() == Integer.MAX_VALUE)) return Set.copyOf(tasks);
    boolean isLoaded = !pendingMessages.isComplete();
    if (isLoaded) pendingMessages.loadIds();
    var admitted = new HashSet<StoreTasks.EnqueueTask>();
    for (var task : tasks) {
      if (!isLoaded && !fits(task, admitted)) {
        pendingMessages.loadIds();
        isLoaded = true;
      }
      if (fits(task, admitted)) admitted.add(task);
    }
    return admitted;
  }

  private boolean fits(StoreTasks.EnqueueTask task, Set<StoreTasks.EnqueueTask> admitted) {
    var positions = pendingMessages.positions();
    if (positions.size() + admitted.size() < task.maxPending()) return true;
    var due = task.message().due();
    return admitted.stream().filter(admittedTask -> !admittedTask.message().due().isAfter(due)).count()
        + positions.values().stream().filter(position -> !position.due().isAfter(due)).count() < task.maxPending();
  }

  // ---- outcomes

  /**
   * Repeats failed attempts, all until the same deadline, and completes the tasks. The tasks of one
   * thread are completed in order. So a message that has no answer yet, and must not be sent again,
   * is completed just before the next message of its thread.
   */
  private void settle(List<MessageAttempt> writes, List<WriteOutcome> outcomes, JetStreamLog.AttemptDeadline deadline) {
    var unansweredWrites = new ArrayList<MessageAttempt>();
    for (int i = 0; i < writes.size(); i++) {
      var write = writes.get(i);
      var outcome = outcomes.get(i);
      boolean isRetryable = outcome instanceof WriteOutcome.RetryableFailure;
      boolean isOvertaken = isRetryable && isOvertaken(i, writes, outcomes);
      if (isOvertaken && outcome == NO_ANSWER) {
        unansweredWrites.add(write);
        continue;
      }
      if (isRetryable && !isOvertaken) {
        Thread.interrupted(); // a callback of a completed task may have set the interrupt
        outcome = log.retryUntilSettled(write.retry, outcome, deadline);
      }
      unansweredWrites.removeIf(unanswered -> settleBefore(write, unanswered));
      settle(write.task, outcome);
    }
  }

  /**
   * Settles an unanswered message if its sender also sent the next message. Returns whether the
   * senders are the same.
   */
  private boolean settleBefore(MessageAttempt next, MessageAttempt unanswered) {
    if (unanswered.task.senderThread() != next.task.senderThread()) return false;
    settle(unanswered.task, unanswered.first.getNow(NO_ANSWER));
    return true;
  }

  /** Returns whether a retry could store the message after a later message of the same sender. */
  private static boolean isOvertaken(int index, List<MessageAttempt> writes, List<WriteOutcome> outcomes) {
    for (int i = index + 1; i < writes.size(); i++)
      if (writes.get(i).task.senderThread() == writes.get(index).task.senderThread() && mayBeStored(outcomes.get(i)))
        return true;
    return false;
  }

  private static boolean mayBeStored(WriteOutcome outcome) {
    return outcome instanceof WriteOutcome.WriteSuccess
        || outcome instanceof WriteOutcome.RetryableFailure failure && failure.mayBeStored();
  }

  private void settle(StoreTasks.EnqueueTask task, WriteOutcome outcome) {
    var message = task.message();
    if (!(outcome instanceof WriteOutcome.WriteSuccess success)) {
      task.completeExceptionally(store.refusal(outcome, "a message for " + id));
      return;
    }
    var previous = pendingMessages.positions().get(message.id());
    if (previous == null || previous.seq() <= success.seq())
      pendingMessages.notePending(message.id(), success.seq(), message.due());
    if (previous != null && previous.seq() != success.seq())
      pendingMessages.removeBefore(message.id(), Math.max(previous.seq(), success.seq()));
    task.complete(true);
  }
}
